// Creates a mirror with an organization that has a row in every list, and an inbox with deliveries.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SAMPLES } from './fuzz-answers.js';

/** @import { ListItems, ListResource } from '../../dist/src/resources/lists.js' */
/** @import { NewDelivery } from '../../dist/src/inbox/delivery.js' */
/** @import { Kind } from './fuzz-answers.js' */
/**
 * Imports a module of the fuzzed program, which may be another build than dist/.
 * @typedef {<Module>(path: string) => Promise<Module>} Load
 */

/**
 * @param {string} folder
 * @param {Load} from
 */
export async function fillMirror(folder, from) {
  /** @type {typeof import('../../dist/src/store/sqlite/migrate.js')} */
  const { migrateFile } = await from('store/sqlite/migrate.js');
  /** @type {typeof import('../../dist/src/store/sqlite/open-database.js')} */
  const { openDatabase } = await from('store/sqlite/open-database.js');
  /** @type {typeof import('../../dist/src/store/sqlite/mirror/mirror-port.js')} */
  const { createMirrorPort } = await from('store/sqlite/mirror/mirror-port.js');
  /** @type {typeof import('../../dist/src/mirror/create-mirror.js')} */
  const { createMirror } = await from('mirror/create-mirror.js');
  /** @type {typeof import('../../dist/src/store/sqlite/inbox/inbox-port.js')} */
  const { createInboxPort } = await from('store/sqlite/inbox/inbox-port.js');
  /** @type {typeof import('../../dist/src/registry/json/parse-objects.js')} */
  const parsers = await from('registry/json/parse-objects.js');
  /** @type {typeof import('../../dist/src/registry/json/json-object.js')} */
  const { parseObject } = await from('registry/json/json-object.js');
  const data = join(folder, 'data');
  mkdirSync(join(data, 'certificates'), { recursive: true });
  /** @param {'mirror' | 'inbox'} name */
  const open = name => {
    const file = join(data, `${name}.db`);
    migrateFile(file, name, new Date().toISOString());
    return openDatabase(file, { busyTimeoutMs: 5_000 });
  };
  /** @param {Kind} kind */
  const sourceOf = kind => parseObject(JSON.stringify(SAMPLES[kind]), kind);
  const mirrorDb = open('mirror');
  const mirror = createMirror(createMirrorPort(mirrorDb, join(data, 'certificates')), Date.now);
  const organizationId = SAMPLES.Organization.id;
  const request = { claim: 1, startedAt: Date.now(), trigger: 'delivery' };
  const installation = parsers.parseInstallation(sourceOf('Installation'));
  await mirror.writeInstallation({ ...request, installation, state: 'active', arrivedAt: Date.now() });
  /**
   * @template {ListResource} Name
   * @param {Name} resource
   * @param {ListItems[Name]} item
   */
  const readOne = async (resource, item) => {
    const read = await mirror.beginRead({
      ...request,
      organizationId,
      resource,
      hasNewDelivery: async () => true,
    });
    await read.writeBatch([item], Date.now());
    await read.finish({ requests: 1, bytes: 1, total: null });
  };
  await readOne('organization', parsers.parseOrganization(sourceOf('Organization')));
  await readOne('warehouse', parsers.parseCredit(sourceOf('Credit')));
  await readOne('inventory', parsers.parseCredit(sourceOf('Credit')));
  await readOne('reservations', parsers.parseReservation(sourceOf('Reservation')));
  await readOne('inventory_requests', parsers.parseInventoryRequest(sourceOf('InventoryRequest')));
  await readOne('retirements', parsers.parseRetirement(sourceOf('Retirement')));
  await readOne('addresses', parsers.parseAddress(sourceOf('Address')));
  await readOne('members', parsers.parseMember(sourceOf('Member')));
  mirrorDb.close();
  const inboxDb = open('inbox');
  /** @type {Pick<NewDelivery, 'event' | 'installationId' | 'organizationId' | 'signedData' | 'verdict'>} */
  const delivery = {
    event: 'installed',
    installationId: installation.id,
    organizationId,
    signedData: 'e30=',
    verdict: 'accepted',
  };
  const more = { contradictedFields: null, reason: null, secretIndex: 0, receivedMsAgo: 0 };
  const sha256 = randomBytes(32).toString('hex');
  await createInboxPort(inboxDb, Date.now).store([{ ...delivery, ...more, sha256 }]);
  inboxDb.close();
}

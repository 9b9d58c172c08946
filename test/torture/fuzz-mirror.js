// A mirror with an organization that has a row of everything, and an inbox with deliveries.
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SAMPLES } from './fuzz-answers.js';

const LISTS = {
  organization: 'Organization',
  warehouse: 'Credit',
  inventory: 'Credit',
  reservations: 'Reservation',
  inventory_requests: 'InventoryRequest',
  retirements: 'Retirement',
  addresses: 'Address',
  members: 'Member',
};

export async function fillMirror(folder, from) {
  const [
    { migrateFile },
    { openDatabase },
    { createMirrorPort },
    { createMirror },
    { createInboxPort },
    parsers,
    { parseObject },
  ] = await Promise.all(
    [
      'store/sqlite/migrate.js',
      'store/sqlite/open.js',
      'store/sqlite/mirror/mirror.js',
      'mirror/create-mirror.js',
      'store/sqlite/inbox/inbox.js',
      'registry/json/parse-objects.js',
      'registry/json/json-object.js',
    ].map(from),
  );
  const data = join(folder, 'data');
  mkdirSync(join(data, 'certificates'), { recursive: true });
  const open = name => {
    const file = join(data, `${name}.db`);
    migrateFile(file, name, new Date().toISOString());
    return openDatabase(file, { busyTimeoutMs: 5_000 });
  };
  const parse = kind => parsers[`parse${kind}`](parseObject(JSON.stringify(SAMPLES[kind]), kind));
  const mirrorDb = open('mirror');
  const mirror = createMirror(createMirrorPort(mirrorDb, join(data, 'certificates')), Date.now);
  const organizationId = SAMPLES.Organization.id;
  const request = { claim: 1, startedAt: Date.now(), trigger: 'delivery' };
  const installation = parse('Installation');
  await mirror.writeInstallation({ ...request, installation, state: 'active', arrivedAt: Date.now() });
  for (const [resource, kind] of Object.entries(LISTS)) {
    const read = await mirror.beginRead({ ...request, organizationId, resource, announced: true });
    await read.writeBatch([parse(kind)], Date.now());
    await read.finish({ requests: 1, bytes: 1, total: null });
  }
  mirrorDb.close();
  const inboxDb = open('inbox');
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

import { conflict } from '../http/errors.js';
import { type Fields, IS_COUNTRY_CODE, IS_EMAIL, NOT_EMPTY, oneOf, readBody } from '../http/validate.js';
import type { UserRow } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { compare, oldestFirst } from '../store/tables.js';
import type { Installations } from './installations.js';
import { address, member, organization, user } from './shapes.js';

const TYPES = ['projectProponent', 'projectDeveloper', 'marketParticipant', 'other', 'validationBody'];

const UNTOLD = { city: '', zip: '', physicalAddress: '', registrationNumber: '', website: '', logo: null };

type Creation = ReturnType<typeof readCreation>;

export function createOrganizations(
  { tables, newId, newHash, now, verb }: Store,
  installations: Installations,
  asDocumented: boolean,
) {
  const { organizations, users, addresses } = tables;

  function insert({ owner, ...said }: Creation, isClaimed: boolean) {
    if (users.named(owner.email) !== undefined) throw conflict('A user with this e-mail address exists');
    if (organizations.named(said.fullName) !== undefined)
      throw conflict('An organization with this name exists');
    const organizationId = newId();
    const at = now();
    const dates = { claimedAt: isClaimed ? at : null, createdAt: at, updatedAt: at };
    const row = { ...UNTOLD, ...said, id: organizationId, warehouseId: newId(), isPublic: true, ...dates };
    const admin: UserRow = { ...owner, id: newId(), organizationId, isAdmin: true, createdAt: at };
    organizations.put(row);
    users.put(admin);
    addresses.put({ address: newHash(40), organizationId, name: 'Default', isDefault: true });
    return { user: user(admin), organization: organization(row) };
  }

  const create = verb('create organization', (made: Creation) => insert(made, true));

  const createForApp = verb('create organization for app', (appId: string, made: Creation) => {
    const shown = insert(made, false);
    return { ...shown, installation: installations.install(appId, shown.organization.id) };
  });

  const claim = verb('claim organization', (id: string) => {
    const row = organizations.find(id);
    if (row.claimedAt !== null) throw conflict('The organization is already claimed');
    organizations.put({ ...row, claimedAt: now(), updatedAt: now() });
    return organization(organizations.find(id));
  });

  function get(id: string) {
    return organization(organizations.find(id));
  }

  function listAddresses(id: string) {
    const rows = addresses
      .rows(organizations.find(id).id)
      .toSorted(
        (one, other) =>
          Number(other.isDefault) - Number(one.isDefault) ||
          compare(one.name, other.name) ||
          compare(one.address, other.address),
      );
    return { addresses: rows.map(address), organizationId: id };
  }

  return {
    get,
    addresses: asDocumented ? get : listAddresses,
    members: (id: string) => ({
      members: oldestFirst(users.rows(organizations.find(id).id)).map(member),
      organizationId: id,
    }),
    /** The endpoint: a user, an organization under that user, and the app installed on it. */
    createForApp: (appId: string, body: unknown) => createForApp(appId, readBody(body, readCreation)),
    /** The human side: the same without an app, already claimed. */
    create: (body: unknown) => create(readBody(body, readCreation)),
    claim,
    all: () => oldestFirst(organizations.rows()).map(organization),
  };
}

function readCreation(fields: Fields) {
  const [owner, owned] = [fields.object('user'), fields.object('organization')];
  return {
    owner: {
      email: owner.text('email', IS_EMAIL).toLowerCase(),
      fullName: owner.optionalText('fullName') ?? '',
      profilePicture: owner.optionalText('profilePicture'),
    },
    fullName: owned.text('fullName', NOT_EMPTY),
    type: owned.text('type', oneOf(TYPES)),
    countryCode: owned.optionalText('countryCode', IS_COUNTRY_CODE),
  };
}

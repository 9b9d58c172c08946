import { conflict, found } from '../http/errors.js';
import type { Installations } from './installations.js';
import type { OrganizationRow, UserRow } from '../store/rows.js';
import { address, member, organization, user } from './shapes.js';
import type { Store } from '../store/store.js';
import { compare, oldestFirst } from '../store/table.js';
import { IS_COUNTRY_CODE, IS_EMAIL, NOT_EMPTY, oneOf, readFields, refuseFaults } from '../http/validate.js';

const TYPES = [
  'projectProponent',
  'projectDeveloper',
  'marketParticipant',
  'other',
  'validationBody',
] as const;

const UNTOLD = { city: '', zip: '', physical_address: '', registration_number: '', website: '', logo: null };

type OrganizationShape = ReturnType<typeof organization>;

export interface Organizations {
  get(id: string): OrganizationShape;
  addresses(id: string): object;
  members(id: string): object;
  /** The endpoint: a user, an organization under that user, and the app installed on it. */
  createForApp(appId: string, body: unknown): object;
  /** The human side: the same without an app, already claimed. */
  create(body: unknown): { user: ReturnType<typeof user>; organization: OrganizationShape };
  claim(id: string): OrganizationShape;
  all(): readonly OrganizationShape[];
}

type Creation = ReturnType<typeof readCreation>;

export function createOrganizations(
  { tables, newId, newHash, now, verb }: Store,
  installations: Installations,
  asDocumented: boolean,
): Organizations {
  const { organizations, users, addresses } = tables;

  function get(id: string): OrganizationRow {
    return found(organizations.get(id), 'Organization');
  }

  function insert(made: Creation, isClaimed: boolean) {
    if (users.named(made.email) !== undefined) throw conflict('A user with this e-mail address exists');
    if (organizations.named(made.full_name) !== undefined)
      throw conflict('An organization with this name exists');
    const { email, user_name, profile_picture, ...said } = made;
    const organization_id = newId();
    const at = now();
    const dates = { claimed_at: isClaimed ? at : null, created_at: at, updated_at: at };
    const own = { id: organization_id, warehouse_id: newId(), is_public: true };
    const owner: UserRow = {
      id: newId(),
      organization_id,
      is_admin: true,
      email,
      full_name: user_name ?? '',
      profile_picture,
      created_at: at,
    };
    organizations.put({ ...UNTOLD, ...said, ...own, ...dates });
    users.put(owner);
    addresses.put({ address: newHash(40), organization_id, name: 'Default', is_default: true });
    return { user: user(owner), organization: organization(get(organization_id)) };
  }

  const create = verb('create organization', (made: Creation) => insert(made, true));

  const createForApp = verb('create organization for app', (appId: string, made: Creation) => {
    const shown = insert(made, false);
    return { ...shown, installation: installations.install(appId, shown.organization.id) };
  });

  const claim = verb('claim organization', (id: string) => {
    const row = get(id);
    if (row.claimed_at !== null) throw conflict('The organization is already claimed');
    organizations.put({ ...row, claimed_at: now(), updated_at: now() });
    return organization(get(id));
  });

  function listAddresses(id: string): object {
    const rows = addresses
      .rows(get(id).id)
      .toSorted(
        (one, other) =>
          Number(other.is_default) - Number(one.is_default) ||
          compare(one.name, other.name) ||
          compare(one.address, other.address),
      );
    return { addresses: rows.map(address), organizationId: id };
  }

  return {
    get: id => organization(get(id)),
    addresses: id => (asDocumented ? organization(get(id)) : listAddresses(id)),
    members: id => ({ members: oldestFirst(users.rows(get(id).id)).map(member), organizationId: id }),
    createForApp: (appId, body) => createForApp(appId, readCreation(body)),
    create: body => create(readCreation(body)),
    all: () => oldestFirst(organizations.rows()).map(organization),
    claim,
  };
}

function readCreation(body: unknown) {
  const faults: string[] = [];
  const fields = readFields(body, faults);
  const owner = fields.object('user');
  const owned = fields.object('organization');
  const made = {
    email: owner.text('email', IS_EMAIL).toLowerCase(),
    user_name: owner.optionalText('fullName'),
    profile_picture: owner.optionalText('profilePicture'),
    full_name: owned.text('fullName', NOT_EMPTY),
    type: owned.text('type', oneOf(TYPES)),
    country_code: owned.optionalText('countryCode', IS_COUNTRY_CODE),
  };
  refuseFaults(faults);
  return made;
}

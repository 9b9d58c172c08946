import { conflict } from '../http/api-errors.js';
import {
  type BodyFields,
  COUNTRY_CODE,
  EMAIL_ADDRESS,
  NOT_EMPTY,
  oneOf,
  readBody,
} from '../http/request-body.js';
import type { UserRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { compareText, sortOldestFirst } from '../store/tables.js';
import type { InstallationService } from './installations.js';
import { toAddressJson, toMemberJson, toOrganizationJson, toUserJson } from './to-json.js';

const TYPES = ['projectProponent', 'projectDeveloper', 'marketParticipant', 'other', 'validationBody'];

const DEFAULTS = { city: '', zip: '', physicalAddress: '', registrationNumber: '', website: '', logo: null };

type NewOrganization = ReturnType<typeof readNewOrganization>;

/** Creates the service for organizations, users and addresses. */
export function createOrganizationService(
  { tables, newId, newHash, now, defineOperation }: SandboxStore,
  installations: InstallationService,
  asDocumented: boolean,
) {
  const { organizations, users, addresses } = tables;

  /**
   * Stores a new organization with one user and one address. Unless `isClaimed` is true, the user can claim the organization
   * later.
   */
  function insertOrganization({ owner, ...fields }: NewOrganization, isClaimed: boolean) {
    if (users.getByName(owner.email) !== undefined) throw conflict('A user with this e-mail address exists');
    if (organizations.getByName(fields.fullName) !== undefined)
      throw conflict('An organization with this name exists');
    const organizationId = newId();
    const at = now();
    // An organization that an app created for the user is not claimed yet.
    const dates = { claimedAt: isClaimed ? at : null, createdAt: at, updatedAt: at };
    const row = {
      ...DEFAULTS,
      ...fields,
      id: organizationId,
      warehouseId: newId(),
      isPublic: true,
      ...dates,
    };
    const admin: UserRecord = { ...owner, id: newId(), organizationId, isAdmin: true, createdAt: at };
    organizations.put(row);
    users.put(admin);
    addresses.put({ address: newHash(40), organizationId, name: 'Default', isDefault: true });
    return { user: toUserJson(admin), organization: toOrganizationJson(row) };
  }

  const create = defineOperation('create organization', (newOrganization: NewOrganization) =>
    insertOrganization(newOrganization, true),
  );

  const createForApp = defineOperation(
    'create organization for app',
    (appId: string, newOrganization: NewOrganization) => {
      const created = insertOrganization(newOrganization, false);
      return { ...created, installation: installations.install(appId, created.organization.id) };
    },
  );

  const claim = defineOperation('claim organization', (id: string) => {
    const row = organizations.getOrThrow(id);
    if (row.claimedAt !== null) throw conflict('The organization is already claimed');
    organizations.put({ ...row, claimedAt: now(), updatedAt: now() });
    return toOrganizationJson(organizations.getOrThrow(id));
  });

  /** Returns the JSON of an organization. Throws a 404 error for an unknown id. */
  function get(id: string) {
    return toOrganizationJson(organizations.getOrThrow(id));
  }

  /** Lists the addresses of an organization, the default address first. */
  function listAddresses(id: string) {
    const rows = addresses
      .list(organizations.getOrThrow(id).id)
      .toSorted(
        (left, right) =>
          Number(right.isDefault) - Number(left.isDefault) ||
          compareText(left.name, right.name) ||
          compareText(left.address, right.address),
      );
    return { addresses: rows.map(toAddressJson), organizationId: id };
  }

  return {
    get,
    /** The documentation of this endpoint shows the organization instead of its addresses. */
    listAddresses: asDocumented ? get : listAddresses,
    listMembers: (id: string) => ({
      members: sortOldestFirst(users.list(organizations.getOrThrow(id).id)).map(toMemberJson),
      organizationId: id,
    }),
    /** Creates a user with an unclaimed organization, and installs the app on the organization. */
    createForApp: (appId: string, body: unknown) => createForApp(appId, readBody(body, readNewOrganization)),
    /** Creates a user with a claimed organization. */
    create: (body: unknown) => create(readBody(body, readNewOrganization)),
    claim,
    listAll: () => sortOldestFirst(organizations.list()).map(toOrganizationJson),
  };
}

/** Reads a new organization and its first user from a request body. */
function readNewOrganization(fields: BodyFields) {
  const user = fields.object('user');
  const organization = fields.object('organization');
  return {
    owner: {
      email: user.text('email', EMAIL_ADDRESS).toLowerCase(),
      fullName: user.optionalText('fullName') ?? '',
      profilePicture: user.optionalText('profilePicture'),
    },
    fullName: organization.text('fullName', NOT_EMPTY),
    type: organization.text('type', oneOf(TYPES)),
    countryCode: organization.optionalText('countryCode', COUNTRY_CODE),
  };
}

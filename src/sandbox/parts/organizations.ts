import { randomBytes } from 'node:crypto';
import { conflict, found } from '../http/errors.js';
import type { Installations } from './installations.js';
import type { AddressRow, OrganizationRow, UserRow } from '../store/schema.js';
import { address, member, organization, user } from './shapes.js';
import type { Store } from '../store/store.js';
import { IS_COUNTRY_CODE, IS_EMAIL, NOT_EMPTY, oneOf, readFields, refuseFaults } from '../http/validate.js';

const TYPES = [
  'projectProponent',
  'projectDeveloper',
  'marketParticipant',
  'other',
  'validationBody',
] as const;

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

interface Creation {
  readonly email: string;
  readonly userName: string | null;
  readonly picture: string | null;
  readonly name: string;
  readonly type: string;
  readonly countryCode: string | null;
}

export function createOrganizations(
  store: Store,
  installations: Installations,
  asDocumented: boolean,
): Organizations {
  const { db, newId, write } = store;
  const find = db.prepare<[string], OrganizationRow>('select * from organizations where id = ?');
  const everyRow = db.prepare<[], OrganizationRow>('select * from organizations order by created_at, id');
  const findByName = db.prepare<[string]>('select 1 from organizations where full_name = ?');
  const findAddresses = db.prepare<[string], AddressRow>(
    'select * from addresses where organization_id = ? order by is_default desc, name, address',
  );
  const findMembers = db.prepare<[string], UserRow>(
    `select u.* from members m join users u on u.id = m.user_id
     where m.organization_id = ? order by u.created_at, u.id`,
  );
  const findUser = db.prepare<[string], UserRow>('select * from users where email = ?');
  const insertUser = db.prepare<[UserRow]>(
    `insert into users (id, email, full_name, profile_picture, created_at)
     values (@id, @email, @full_name, @profile_picture, @created_at)`,
  );
  const insertOrganization = db.prepare<[object]>(
    `insert into organizations (id, full_name, type, country_code, warehouse_id, created_by_app_id, claimed_at,
                                created_at, updated_at)
     values (@id, @name, @type, @countryCode, @warehouseId, @appId, @claimedAt, @now, @now)`,
  );
  const insertMember = db.prepare<[string, string]>(
    'insert into members (organization_id, user_id, is_admin) values (?, ?, 1)',
  );
  const insertAddress = db.prepare<[string, string]>(
    `insert into addresses (address, organization_id, name, is_default) values (?, ?, 'Default', 1)`,
  );
  const setClaimed = db.prepare<[string, string, string]>(
    'update organizations set claimed_at = ?, updated_at = ? where id = ?',
  );

  function get(id: string): OrganizationRow {
    return found(find.get(id), 'Organization');
  }

  function insert(made: Creation, appId: string | null, now: string): { userId: string; id: string } {
    if (findUser.get(made.email) !== undefined) throw conflict('A user with this e-mail address exists');
    if (findByName.get(made.name) !== undefined) throw conflict('An organization with this name exists');
    const userId = newId();
    const id = newId();
    const { email, picture: profile_picture } = made;
    insertUser.run({ id: userId, email, full_name: made.userName ?? '', profile_picture, created_at: now });
    const claimedAt = appId === null ? now : null;
    const { name, type, countryCode } = made;
    insertOrganization.run({ id, name, type, countryCode, warehouseId: newId(), appId, claimedAt, now });
    insertMember.run(id, userId);
    insertAddress.run(`0x${randomBytes(20).toString('hex')}`, id);
    return { userId, id };
  }

  function show(made: Creation, id: string) {
    return { user: user(found(findUser.get(made.email), 'User')), organization: organization(get(id)) };
  }

  return {
    get: id => organization(get(id)),
    addresses: id =>
      asDocumented
        ? organization(get(id))
        : { addresses: findAddresses.all(get(id).id).map(address), organizationId: id },
    members: id => ({ members: findMembers.all(get(id).id).map(member), organizationId: id }),
    createForApp(appId, body) {
      const made = readCreation(body);
      return write(now => {
        const { id } = insert(made, appId, now);
        return { ...show(made, id), installation: installations.install(appId, id) };
      });
    },
    create(body) {
      const made = readCreation(body);
      return write(now => show(made, insert(made, null, now).id));
    },
    all: () => everyRow.all().map(organization),
    claim: id =>
      write(now => {
        if (get(id).claimed_at !== null) throw conflict('The organization is already claimed');
        setClaimed.run(now, now, id);
        return organization(get(id));
      }),
  };
}

function readCreation(body: unknown): Creation {
  const faults: string[] = [];
  const fields = readFields(body, faults);
  const owner = fields.object('user');
  const owned = fields.object('organization');
  const made = {
    email: owner.text('email', IS_EMAIL).toLowerCase(),
    userName: owner.optionalText('fullName'),
    picture: owner.optionalText('profilePicture'),
    name: owned.text('fullName', NOT_EMPTY),
    type: owned.text('type', oneOf(TYPES)),
    countryCode: owned.optionalText('countryCode', IS_COUNTRY_CODE),
  };
  refuseFaults(faults);
  return made;
}

import { sql } from 'kysely';
import { hashEmail, isRowOfPerson, containsEmail, normalizeEmail } from '../../mirror/forgotten-people.js';
import type { MirrorPort } from '../../mirror/port/mirror-port.js';
import { formatInstant } from '../../resources/sql-values.js';
import { jsonRelation, tableRef, sqlStatement } from '../sql/columns.js';
import type { SqlFunctions } from '../sql/functions.js';
import { type Params, prepared } from '../sql/prepared.js';
import type { Database } from '../statement.js';
import { toVersionTable, type VersionParams } from './row-versions.js';
import type { ListParam } from './list-states.js';

/** Lists the hashes of the email addresses of forgotten people. */
export const LIST_FORGOTTEN = prepared(({ db }) =>
  db.selectFrom('mirror.forgotten_people').select('email_sha256 as hash'),
);
/** Makes SQLite overwrite the bytes of rows that the connection deletes from now on. */
export const OVERWRITE_DELETED = prepared(({ fn }) => fn.overwriteDeleted);
/** Locks the version counter. Every write of members locks it too, so none can bring back a person who is being forgotten. */
export const LOCK_COUNTER = prepared(({ db }) =>
  db.selectFrom('mirror.version_counter').select('last').forUpdate(),
);
const INSERT_FORGOTTEN_PERSON = prepared(
  ({ db }, { hash, at }: Params<{ readonly hash: string; readonly at: string }>) =>
    db
      .insertInto('mirror.forgotten_people')
      .values({ email_sha256: hash, forgotten_at: at })
      .onConflict(conflict => conflict.doNothing()),
);
const LIST_MEMBERS = prepared(({ db }) =>
  db
    .selectFrom('mirror.members_history')
    .select(['version', 'organization_id', 'email', 'document', 'valid_to']),
);
const LIST_ANSWERS = prepared(({ db }) =>
  db
    .selectFrom('mirror.resource_states')
    .select(['organization_id', 'resource', 'answer_text as text'])
    .where('answer_text', 'is not', null)
    .$narrowType<{ text: string }>(),
);
const versionList = jsonRelation('given', { version: 'int' });
const isGiven = (fn: SqlFunctions, { versions }: Params<VersionParams>) =>
  sql`(SELECT ${versionList.columns.version} FROM ${versionList.from(fn, versions)})`;
const members = tableRef('mirror.members');
const past = tableRef('mirror.past');
/** Remove versions of members, and mark the versions that they replaced as removed. */
const REMOVALS = [
  prepared(
    ({ fn }, params: Params<VersionParams>) =>
      sqlStatement`DELETE FROM ${members()} WHERE ${members.version} IN ${isGiven(fn, params)}`,
  ),
  prepared(
    ({ fn }, params: Params<VersionParams>) =>
      sqlStatement`DELETE FROM ${past()} WHERE ${past.version} IN ${isGiven(fn, params)}`,
  ),
  prepared(
    ({ fn }, params: Params<VersionParams>) =>
      sqlStatement`UPDATE ${past()} SET ${past.is_removed} = 1 WHERE ${past.closed_version} IN ${isGiven(fn, params)}`,
  ),
];
const COUNT_REMOVED_MEMBER = prepared(
  ({ db }, { organizationId }: Params<{ readonly organizationId: string }>) =>
    db
      .updateTable('mirror.resource_states')
      .set(eb => ({ rows: eb('rows', '-', 1) }))
      .where('organization_id', '=', organizationId)
      .where('resource', '=', 'members'),
);
const ERASE_ANSWER = prepared(({ db }, { organizationId, resource }: Params<ListParam>) =>
  db
    .updateTable('mirror.resource_states')
    .set({ answer_text: null })
    .where('organization_id', '=', organizationId)
    .where('resource', '=', resource),
);

/**
 * Creates the method of `MirrorPort` that forgets a person. `forget` deletes the person's rows in `members`, past versions included, and
 * erases every stored answer of the registry that contains the email address. Stores a hash of the address, so that the person is not
 * stored again. Returns the number of deleted rows.
 */
export function createPersonRemoval({ transact }: Database): Pick<MirrorPort, 'forget'> {
  return {
    forget: (email, at) => {
      const address = normalizeEmail(email);
      return transact(async batch => {
        const remember = INSERT_FORGOTTEN_PERSON({ hash: hashEmail(address), at: formatInstant(at) });
        const [, , , stored, answers] = await batch(
          OVERWRITE_DELETED(),
          LOCK_COUNTER(),
          remember,
          LIST_MEMBERS(),
          LIST_ANSWERS(),
        );
        const rows = stored.filter(member => isRowOfPerson(member, address));
        const versions = toVersionTable(rows.map(({ version }) => version));
        const currentRows = rows.filter(({ valid_to: end }) => end === null);
        const answersWithEmail = answers.filter(({ text }) => containsEmail(text, address));
        await batch(
          ...REMOVALS.map(removal => removal({ versions })),
          ...currentRows.map(({ organization_id: organizationId }) =>
            COUNT_REMOVED_MEMBER({ organizationId }),
          ),
          ...answersWithEmail.map(({ organization_id: organizationId, resource }) =>
            ERASE_ANSWER({ organizationId, resource }),
          ),
        );
        return rows.length;
      });
    },
  };
}

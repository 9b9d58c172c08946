import { hashEmail } from '../../mirror/forgotten-people.js';
import { isRowOfPerson, containsEmail, normalizeEmail } from '../../mirror/email-matching.js';
import type { MirrorPort } from '../../mirror/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import type { Tables } from '../contract/tables.js';
import type { Table } from '../dialect.js';
import { fixed, statement, type Database } from '../statement.js';
import { listOf } from './versions.js';

type Member = Pick<
  Tables['members_history'],
  'version' | 'organization_id' | 'email' | 'document' | 'valid_to'
>;
type Texts = Pick<Tables['resource_states'], 'organization_id' | 'resource'> & { readonly text: string };

export const FORGOTTEN = fixed<{ readonly hash: string }>(
  'SELECT email_sha256 AS hash FROM mirror.forgotten_people',
);
/** What is removed leaves no bytes in the file. */
export const ERASING = fixed(({ erasing }) => erasing);
/** Who writes members takes the counter too: none that was read before is written after. */
export const HOLD_COUNTER = fixed<{ readonly last: number }>(
  ({ forUpdate }) => `SELECT last FROM mirror.version_counter ${forUpdate}`,
);
const REMEMBER = statement<{ hash: string; at: string }>(
  'INSERT INTO mirror.forgotten_people (email_sha256, forgotten_at) VALUES (@hash, @at) ON CONFLICT DO NOTHING',
);
const MEMBERS = fixed<Member>(
  'SELECT version, organization_id, email, document, valid_to FROM mirror.members_history',
);
const TEXTS = fixed<Texts>(
  'SELECT organization_id, resource, answer_text AS text FROM mirror.resource_states WHERE answer_text IS NOT NULL',
);
const VERSIONS = { version: 'int' } as const;
/** What stood before it is gone with it. */
const REMOVALS = [
  'DELETE FROM mirror.members WHERE version IN',
  'DELETE FROM mirror.past WHERE version IN',
  'UPDATE mirror.past SET is_removed = 1 WHERE closed_version IN',
].map(words =>
  statement<{ versions: Table }>(
    ({ rows }) => `${words} (SELECT g.version FROM ${rows('@versions', 'g', VERSIONS)})`,
  ),
);
const SHRINK = statement<{ organizationId: string }>(
  `UPDATE mirror.resource_states SET rows = rows - 1
   WHERE organization_id = @organizationId AND resource = 'members'`,
);
const BLANK = statement<{ organizationId: string; resource: string }>(
  `UPDATE mirror.resource_states SET answer_text = NULL
   WHERE organization_id = @organizationId AND resource = @resource`,
);

export function createPeople({ transact }: Database): Pick<MirrorPort, 'forget'> {
  return {
    forget: (email, at) => {
      const address = normalizeEmail(email);
      return transact(async batch => {
        const remember = REMEMBER({ hash: hashEmail(address), at: formatInstant(at) });
        const [, , , members, texts] = await batch(ERASING, HOLD_COUNTER, remember, MEMBERS, TEXTS);
        const found = members.filter(member => isRowOfPerson(member, address));
        const versions = listOf(found.map(({ version }) => version));
        const present = found.filter(({ valid_to: end }) => end === null);
        const naming = texts.filter(({ text }) => containsEmail(text, address));
        await batch(
          ...REMOVALS.map(removal => removal({ versions })),
          ...present.map(({ organization_id: organizationId }) => SHRINK({ organizationId })),
          ...naming.map(({ organization_id: organizationId, resource }) =>
            BLANK({ organizationId, resource }),
          ),
        );
        return found.length;
      });
    },
  };
}

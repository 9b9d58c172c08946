import { hashOfAddress } from '../../../mirror/people.js';
import { isOf, namesAddress, normalAddress } from '../../../mirror/person.js';
import type { MirrorPort } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Tables } from '../../contract/tables.js';
import type { Postgres, Query } from '../open.js';

type Member = Tables['members_history'];

interface Said {
  readonly organization_id: string;
  readonly resource: string;
  readonly answer_text: string;
}

/** Who writes members takes the counter too: none that was read before is written after. */
export const HOLD_COUNTER = 'SELECT last FROM mirror.version_counter FOR UPDATE';

export function createPeople({ query, transact }: Postgres): Pick<MirrorPort, 'forget' | 'forgottenPeople'> {
  return {
    forgottenPeople: async () => {
      const rows = await query<{ email_sha256: string }>('SELECT email_sha256 FROM mirror.forgotten_people');
      return rows.map(row => row.email_sha256);
    },
    forget: (email, at) => {
      const address = normalAddress(email);
      return transact(async ask => {
        await ask(HOLD_COUNTER);
        await ask('INSERT INTO mirror.forgotten_people VALUES ($1, $2) ON CONFLICT DO NOTHING', [
          hashOfAddress(address),
          formatInstant(at),
        ]);
        const removed = await removeOf(ask, address);
        for (const { organization_id: organizationId, valid_to: end } of removed) {
          if (end !== null) continue;
          await ask(
            "UPDATE mirror.resource_states SET rows = rows - 1 WHERE organization_id = $1 AND resource = 'members'",
            [organizationId],
          );
        }
        await blank(ask, address);
        return removed.length;
      });
    },
  };
}

const REMOVALS = [
  'DELETE FROM mirror.members WHERE version = ANY ($1::bigint[])',
  'DELETE FROM mirror.past WHERE version = ANY ($1::bigint[])',
  'UPDATE mirror.past SET is_removed = 1 WHERE closed_version = ANY ($1::bigint[])',
];

/** Removes what names an address, past or present, and answers it. What stood before it is gone with it. */
async function removeOf(ask: Query, address: string): Promise<Member[]> {
  const all = await ask<Member>('SELECT * FROM mirror.members_history');
  const found = all.filter(member => isOf(member, address));
  for (const removal of REMOVALS) await ask(removal, [found.map(({ version }) => version)]);
  return found;
}

/** The texts of answers that could not be read as a list. */
async function blank(ask: Query, address: string): Promise<void> {
  const all = await ask<Said>(
    'SELECT organization_id, resource, answer_text FROM mirror.resource_states WHERE answer_text IS NOT NULL',
  );
  for (const { organization_id: organizationId, resource, answer_text: text } of all) {
    if (!namesAddress(text, address)) continue;
    await ask(
      'UPDATE mirror.resource_states SET answer_text = NULL WHERE organization_id = $1 AND resource = $2',
      [organizationId, resource],
    );
  }
}

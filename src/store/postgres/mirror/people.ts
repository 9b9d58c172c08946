import { hashOfAddress } from '../../../mirror/people.js';
import { isOf, namesAddress, normalAddress } from '../../../mirror/person.js';
import type { MirrorPort } from '../../../mirror/port.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Tables } from '../../contract/tables.js';
import type { Postgres, Query } from '../open.js';

type Member = Pick<Tables['members'], 'version' | 'organization_id' | 'email' | 'document'>;

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
        const present = await removeOf(ask, 'members', address);
        const past = await removeOf(ask, 'members_past', address);
        for (const { organization_id: organizationId } of present) {
          await ask(
            "UPDATE mirror.resource_states SET rows = rows - 1 WHERE organization_id = $1 AND resource = 'members'",
            [organizationId],
          );
        }
        await blank(ask, address);
        return present.length + past.length;
      });
    },
  };
}

/** Removes what names an address, and answers it. */
async function removeOf(ask: Query, table: 'members' | 'members_past', address: string): Promise<Member[]> {
  const all = await ask<Member>(`SELECT version, organization_id, email, document FROM mirror.${table}`);
  const found = all.filter(member => isOf(member, address));
  await ask(`DELETE FROM mirror.${table} WHERE version = ANY ($1::bigint[])`, [
    found.map(row => row.version),
  ]);
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

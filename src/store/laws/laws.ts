import { certificateLaws } from './certificates.js';
import { countLaws } from './counts.js';
import type { Dialect } from '../dialect.js';
import type { Law } from './law.js';
import { syncLaws } from './syncs.js';
import { VERSION_LAWS } from './versions.js';

/** What the rows add up to, whichever way they are added. */
const BALANCE_LAWS: readonly Law[] = [
  {
    law: 'retirements add up to the same by month, by beneficiary and by their certificates',
    sql: `SELECT organization_id || ', ' || reckoning || ' ' || value AS found FROM balance_retirements WHERE balanced = 0`,
  },
  {
    law: 'what a credit was seen to rise and to fall by adds up to what is listed',
    sql: `SELECT organization_id || ', ' || place || ' ' || credit_id AS found FROM balance_credits WHERE balanced = 0`,
  },
];

const INBOX_LAWS: readonly Law[] = [
  {
    law: 'no claim that the mirror has seen is above the counter of the inbox',
    sql: `SELECT organization_id || ', ' || part || ': ' || claim AS found FROM fences
      WHERE claim > (SELECT last FROM inbox.claims)`,
  },
  {
    law: 'an accepted delivery has its job, as long as that is kept',
    sql: `SELECT 'delivery ' || id AS found FROM inbox.deliveries WHERE verdict = 'accepted' AND job_id IS NULL`,
  },
  {
    law: 'no two claims are live for one installation and part',
    sql: `SELECT installation_id || ', ' || part AS found FROM inbox.jobs
      WHERE state = 'running' AND claimed_until > :now AND installation_id IS NOT NULL
      GROUP BY installation_id, part HAVING count(*) > 1`,
  },
  {
    law: 'a delivery has the SHA-256 of its signed text, as long as that is kept',
    sql: `SELECT 'delivery ' || d.id AS found FROM inbox.deliveries AS d JOIN inbox.signed_texts AS t ON t.id = d.stored_text_id
      WHERE t.sha256 <> d.signed_text_sha256`,
  },
  {
    law: 'no delivery came in the future',
    sql: `SELECT 'delivery ' || id AS found FROM inbox.deliveries
      WHERE received_at > :soon`,
  },
];

/** What must hold in any mirror at any moment, whatever the registry said. */
export function lawsIn(dialect: Dialect): readonly Law[] {
  return [
    ...VERSION_LAWS,
    ...syncLaws(dialect),
    ...countLaws(dialect),
    ...certificateLaws(dialect),
    ...BALANCE_LAWS,
    ...INBOX_LAWS,
  ];
}

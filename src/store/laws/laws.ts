import { certificateLaws } from './certificates.js';
import { countLaws } from './counts.js';
import type { Dialect } from '../dialect.js';
import type { Law } from './law.js';
import { syncLaws } from './syncs.js';
import { VERSION_LAWS } from './versions.js';

/** What the rows add up to, whichever way they are added. */
const BALANCE_LAWS: readonly Law[] = [
  {
    law: 'retirements add up by month, by beneficiary and by state of certificate',
    sql: `SELECT organization_id || ', ' || reckoning || ' ' || value AS found FROM balance_retirements WHERE balanced = 0`,
  },
  {
    law: 'the first amount of each credit, plus increases, minus decreases, is the listed amount',
    sql: `SELECT organization_id || ', ' || place || ' ' || credit_id AS found FROM balance_credits WHERE balanced = 0`,
  },
];

const INBOX_LAWS: readonly Law[] = [
  {
    law: 'no claim in the mirror is higher than the claim counter of the inbox',
    sql: `SELECT organization_id || ', ' || part || ': ' || claim AS found FROM fences
      WHERE claim > (SELECT last FROM inbox.claims)`,
  },
  {
    law: 'each accepted delivery has a job',
    sql: `SELECT 'delivery ' || id AS found FROM inbox.deliveries WHERE verdict = 'accepted' AND job_id IS NULL`,
  },
  {
    law: 'each part of an installation has at most one valid claim',
    sql: `SELECT installation_id || ', ' || part AS found FROM inbox.jobs
      WHERE state = 'running' AND claimed_until > :now AND installation_id IS NOT NULL
      GROUP BY installation_id, part HAVING count(*) > 1`,
  },
  {
    law: 'signed_text_sha256 of each delivery is the hash of its stored signed text',
    sql: `SELECT 'delivery ' || d.id AS found FROM inbox.deliveries AS d JOIN inbox.signed_texts AS t ON t.id = d.stored_text_id
      WHERE t.sha256 <> d.signed_text_sha256`,
  },
  {
    law: 'no delivery is dated in the future',
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

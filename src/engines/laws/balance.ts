import type { Law } from './law.js';

/** What the rows add up to, whichever way they are added. */
export const BALANCE_LAWS: readonly Law[] = [
  {
    law: 'retirements add up to the same by month, by beneficiary and by their certificates',
    sql: `SELECT organization_id || ', ' || reckoning || ' ' || value AS found FROM balance_retirements WHERE ties = 0`,
  },
  {
    law: 'what a credit was seen to rise and to fall by adds up to what is listed',
    sql: `SELECT organization_id || ', ' || place || ' ' || credit_id AS found FROM balance_credits WHERE ties = 0`,
  },
];

import type { Broken } from '../engine.js';
import { askOf, type Law, type Say } from '../laws/law.js';
import { lawsIn } from '../laws/laws.js';
import type { Postgres } from './open.js';

const SHOWN = 5;
const BY_BYTES = 'found COLLATE "C"';

const SAY: Say = {
  latest: (...columns) => `greatest(${columns.join(', ')})`,
  larger: (one, other) => `greatest(${one}, ${other})`,
  never: "'infinity'",
  dayBefore: instant => `${instant} - interval '1 day'`,
  // Null to whoever may not see it: then it is not held against anything.
  newestSync:
    "(SELECT last_value FROM pg_sequences WHERE schemaname = 'mirror' AND sequencename = 'syncs_id_seq')",
};

const OWN_LAWS: readonly Law[] = [
  {
    law: 'every index and every condition holds all rows',
    sql: `SELECT indexrelid::regclass::text AS found FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
      WHERE c.relnamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace) AND NOT (indisvalid AND indisready)
      UNION ALL SELECT conrelid::regclass || ', ' || conname FROM pg_constraint
      WHERE connamespace IN ('inbox'::regnamespace, 'mirror'::regnamespace) AND NOT convalidated`,
  },
];
const LAWS: readonly Law[] = [...lawsIn(SAY), ...OWN_LAWS];

/** What must hold in any mirror at any moment, whatever the registry said, all of it seen at one moment. */
export function findBroken({ transact }: Postgres, now: number): Promise<Broken[]> {
  return transact(async query => {
    await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await query('SET LOCAL search_path = mirror');
    const broken: Broken[] = [];
    for (const law of LAWS) {
      const rows = await query<{ found: string }>(askOf(law, now, SHOWN, BY_BYTES));
      broken.push(...rows.map(({ found }) => ({ law: law.law, where: found })));
    }
    return broken;
  });
}

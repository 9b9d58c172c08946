import type { Held } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { claimedJob } from '../../claimed-job.js';
import type { Tables } from '../../contract/tables.js';
import { stateOf } from '../errors.js';
import type { Query } from '../open.js';
import type { Perform } from './perform.js';

/** The oldest due jobs that one claim chooses among; the rest have their turn when these are gone. */
const CANDIDATES = 256;

interface Taken {
  readonly jobs: readonly Tables['inbox.jobs'][];
  readonly others_wait: boolean;
  readonly next_in_ms: number | null;
}

type Claims = Pick<InboxPort, 'claim' | 'renew' | 'bind' | 'raiseClaims' | 'takeClaim'>;

export function createClaims(query: Query, { call }: Perform): Claims {
  return {
    claim: async ({ parts, leaseMs }) => {
      const taken = await call<Taken>('claim', { parts, lease_ms: leaseMs, candidates: CANDIDATES });
      return {
        jobs: taken.jobs.map(row =>
          claimedJob({ ...row, run_at: instant(row.run_at), created_at: instant(row.created_at) }),
        ),
        othersWait: taken.others_wait,
        nextChangeInMs: taken.next_in_ms,
      };
    },
    renew: (held, leaseMs) => call('renew', { held, lease_ms: leaseMs }),
    bind: async ({ id, claim }: Held, organizationId) => {
      try {
        const bound = await query(BIND, [id, claim, organizationId]);
        return bound.length === 1 ? 'ours' : 'lost';
      } catch (error) {
        if (stateOf(error) === '23505') return 'busy';
        throw error;
      }
    },
    raiseClaims: async above => {
      await query('UPDATE inbox.claims SET last = $1 WHERE last < $1', [above]);
    },
    takeClaim: async above => {
      const [taken] = await query<{ last: number }>(
        'UPDATE inbox.claims SET last = greatest(last, $1) + 1 RETURNING last',
        [above],
      );
      if (taken === undefined) throw new Error('expected the counter of claims, got none');
      return taken.last;
    },
  };
}

/** As it stands within JSON. */
function instant(text: string): string {
  return new Date(text).toISOString();
}

/** The index of what runs tells of two that they are of one organization. */
const BIND = `
  UPDATE inbox.jobs SET organization_id = $3 WHERE id = $1 AND claim = $2 AND state = 'running' RETURNING id`;

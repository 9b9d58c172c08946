import type { Sqlite } from '../open.js';
import { MirrorError } from '../../../mirror/errors.js';
import type { Task } from '../../../mirror/port.js';

export type Fence = ReturnType<typeof createFence>;

export function createFence(db: Sqlite) {
  const newest = db
    .prepare<[string, string], number>('SELECT claim FROM fences WHERE organization_id = ? AND part = ?')
    .pluck();
  const raise = db.prepare(
    'INSERT INTO fences VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET claim = excluded.claim',
  );
  const active = db
    .prepare<[string], number | null>(
      "SELECT max(state = 'active') FROM installations WHERE organization_id = ?",
    )
    .pluck();
  return {
    /** Inside a transaction: throws `fenced` if a newer claim has been seen, and remembers this one otherwise. */
    take: ({ organizationId, part, claim }: Task): void => {
      const seen = newest.get(organizationId, part);
      if (seen !== undefined && seen > claim) {
        throw new MirrorError('fenced', `claim ${claim} was taken over by claim ${seen}`);
      }
      if (seen === undefined || seen < claim) raise.run(organizationId, part, claim);
    },
    /** Inside a transaction: throws `not_active` if the organization is known and none of its installations is active. */
    demandActive: (organizationId: string): void => {
      if (active.get(organizationId) === 0) {
        throw new MirrorError('not_active', 'the organization has no active installation any more');
      }
    },
  };
}

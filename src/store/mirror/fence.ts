import { MirrorError } from '../../mirror/mirror-error.js';
import type { WriteClaim } from '../../mirror/port/sync.js';
import { type Params, prepared } from '../sql/prepared.js';

type ClaimedPart = { readonly organizationId: string; readonly part: string };

/** Raises the fencing token to the claim. Locks its row until the transaction ends, even if the token stays the same. */
const RAISE_FENCE = prepared(
  ({ db }, { organizationId, part, claim }: Params<ClaimedPart & { readonly claim: number }>) =>
    db
      .insertInto('mirror.fences')
      .values({ organization_id: organizationId, part, claim })
      .onConflict(conflict =>
        conflict
          .columns(['organization_id', 'part'])
          .doUpdateSet(build => ({ claim: build.ref('excluded.claim') }))
          .whereRef('mirror.fences.claim', '<', 'excluded.claim'),
      ),
);
const READ_FENCE = prepared(({ db }, { organizationId, part }: Params<ClaimedPart>) =>
  db
    .selectFrom('mirror.fences')
    .select('claim')
    .where('organization_id', '=', organizationId)
    .where('part', '=', part),
);

/** Builds the two statements with which every write under a claim begins: they raise the fencing token and then read it. */
export function buildFenceStatements({ organizationId, part, claim }: WriteClaim) {
  return [RAISE_FENCE({ organizationId, part, claim }), READ_FENCE({ organizationId, part })] as const;
}

/**
 * Throws a `MirrorError` with the code `fenced` if the stored fencing token is higher than the caller's claim number: a worker with
 * a later claim has already written.
 */
export function assertNotFenced([fence]: readonly { readonly claim: number }[], { claim }: WriteClaim): void {
  if (fence !== undefined && fence.claim > claim) {
    throw new MirrorError('fenced', `claim ${claim} was taken over by claim ${fence.claim}`);
  }
}

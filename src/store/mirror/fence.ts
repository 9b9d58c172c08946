import { MirrorError } from '../../mirror/errors.js';
import type { WriteClaim } from '../../mirror/port.js';
import { statement } from '../statement.js';

type Whose = { readonly organizationId: string; readonly part: string };

/** The row is held until the transaction has ended, whoever comes out first. */
const HOLD = statement<Whose & { readonly claim: number }>(
  `INSERT INTO mirror.fences AS f (organization_id, part, claim) VALUES (@organizationId, @part, @claim)
   ON CONFLICT (organization_id, part) DO UPDATE SET claim = excluded.claim WHERE f.claim < excluded.claim`,
);
const SEEN = statement<Whose, { readonly claim: number }>(
  'SELECT claim FROM mirror.fences WHERE organization_id = @organizationId AND part = @part',
);

/** What every write of a claim begins with, before anything else is looked at. */
export function fence({ organizationId, part, claim }: WriteClaim) {
  return [HOLD({ organizationId, part, claim }), SEEN({ organizationId, part })] as const;
}

/** Throws `fenced` where the answer to that shows a newer claim. */
export function demandHeld([seen]: readonly { readonly claim: number }[], { claim }: WriteClaim): void {
  if (seen !== undefined && seen.claim > claim) {
    throw new MirrorError('fenced', `claim ${claim} was taken over by claim ${seen.claim}`);
  }
}

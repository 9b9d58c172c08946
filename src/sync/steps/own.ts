import { RegistryError } from '../../registry/errors.js';

/** Rows that name an owner and none of which names the organization that was asked for are somebody else's answer. */
export function demandOwn(
  organizationId: string,
  items: readonly { readonly organizationId: string | null }[],
): void {
  const owners = items.flatMap(item => (item.organizationId === null ? [] : [item.organizationId]));
  if (owners.length === 0 || owners.some(owner => owner.toLowerCase() === organizationId.toLowerCase()))
    return;
  throw new RegistryError('bad_answer', 'the rows belong to another organization');
}

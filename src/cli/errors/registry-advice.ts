import type { RegistryError } from '../../registry/errors.js';

/** The parts of a registry error from which advice is derived. */
type RegistryRefusal = Pick<RegistryError, 'code' | 'call' | 'candidates'>;

/** The permission that each call requires, by the registry's names. The first match applies. */
const PERMISSIONS: readonly (readonly [RegExp, string])[] = [
  [/^GET \/organizations\/[^/]+\/warehouse\//, 'organization_warehouse:read'],
  [/^(POST|DELETE) \/organizations\/[^/]+\/warehouse\//, 'organization_warehouse:write'],
  [/^POST \/organizations\/[^/]+\/inventory\/requests\//, 'organization_inventory:read_request'],
  [/^GET \/organizations\/[^/]+\/inventory/, 'organization_inventory:read'],
  [/^GET \/organizations\/[^/]+\/members/, 'organization_members:read'],
  [/^GET \/organizations\/[^/]+(\/addresses|\/retirements.*)?$/, 'organization_info:read'],
];

/**
 * Returns the permission that a call requires: `GET /organizations/ID/members` → `organization_members:read`.
 */
export function findRequiredPermission(call: string): string | null {
  return PERMISSIONS.find(([pattern]) => pattern.test(call))?.[1] ?? null;
}

/** Returns lines of advice for an error of the registry. Returns no lines if there is no advice. */
export function adviseOnRegistryError(error: object): readonly string[] {
  const { code, call, candidates }: Partial<RegistryRefusal> = error;
  if (code === 'installation_gone')
    return ['The app is no longer installed there. See "carbon-mirror installations list".'];
  if (code === 'unauthorized')
    return ['The registry rejects this app id with this key. Run "carbon-mirror doctor".'];
  if (code === 'forbidden') {
    const permission = findRequiredPermission(call ?? '');
    return permission === null
      ? []
      : [`It requires the permission ${permission}. "carbon-mirror doctor" shows what was not granted.`];
  }
  if (code !== 'outcome_unknown') return [];
  const results = (candidates ?? []).map(getCandidateJson).filter(text => text !== '');
  if (results.length === 0)
    return ['It may have succeeded, or may still succeed. Check before you repeat it.'];
  return ['It may have succeeded. Check before you repeat it; this may be the result:', ...results];
}

/**
 * Returns the JSON text of `candidate`, an object that the registry may have created for a write whose response was lost. Returns an empty
 * text if `candidate` has no JSON text.
 */
function getCandidateJson(candidate: unknown): string {
  if (typeof candidate !== 'object' || candidate === null) return '';
  if ('document' in candidate) return String(candidate.document);
  return 'installation' in candidate ? getCandidateJson(candidate.installation) : '';
}

import type { RegistryError } from '../../registry/errors.js';

type Refused = Pick<RegistryError, 'code' | 'call' | 'candidates'>;

/** What each call needs, in the registry's own names. The first that fits counts. */
const PERMISSIONS: readonly (readonly [RegExp, string])[] = [
  [/^GET \/organizations\/[^/]+\/warehouse\//, 'organization_warehouse:read'],
  [/^(POST|DELETE) \/organizations\/[^/]+\/warehouse\//, 'organization_warehouse:write'],
  [/^POST \/organizations\/[^/]+\/inventory\/requests\//, 'organization_inventory:read_request'],
  [/^GET \/organizations\/[^/]+\/inventory/, 'organization_inventory:read'],
  [/^GET \/organizations\/[^/]+\/members/, 'organization_members:read'],
  [/^GET \/organizations\/[^/]+(\/addresses|\/retirements.*)?$/, 'organization_info:read'],
];

/** The permission that a call needs, told by its method and its route or path. */
export function permissionFor(call: string): string | null {
  return PERMISSIONS.find(([pattern]) => pattern.test(call))?.[1] ?? null;
}

/** What to say below the registry's own words. */
export function adviceFor(error: object): readonly string[] {
  const { code, call, candidates }: Partial<Refused> = error;
  if (code === 'installation_gone')
    return ['The app is not installed there any more: see "carbon-mirror installations list".'];
  if (code === 'unauthorized')
    return ['The registry refuses this app id with this key: see "carbon-mirror doctor".'];
  if (code === 'forbidden') {
    const permission = permissionFor(call ?? '');
    return permission === null
      ? []
      : [`It needs ${permission}. "carbon-mirror doctor" says what was not granted.`];
  }
  if (code !== 'outcome_unknown') return [];
  const found = (candidates ?? []).map(describeCandidate).filter(text => text !== '');
  if (found.length === 0) return ['It may have been done, or may still be: look before you do it again.'];
  return ['It may have been done. Look before you do it again; this may be what came of it:', ...found];
}

function describeCandidate(candidate: unknown): string {
  if (typeof candidate !== 'object' || candidate === null) return '';
  if ('document' in candidate) return String(candidate.document);
  return 'installation' in candidate ? describeCandidate(candidate.installation) : '';
}

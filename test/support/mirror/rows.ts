import { createHash } from 'node:crypto';
import type { ObservedPage } from '../../../src/mirror/mirror.js';
import type {
  Amount,
  Credit,
  Installation,
  Member,
  Organization,
  Retirement,
} from '../../../src/registry/object-models.js';

export function amount(exact: string): Amount {
  const [tonnes = '0', rest = ''] = exact.split('.');
  const micro = rest.length <= 6 ? BigInt(tonnes) * 1_000_000n + BigInt(rest.padEnd(6, '0')) : null;
  return { exact, value: Number(exact), micro, fault: null };
}

/** Formats an item as the registry sends it, with the exact digits of its amount. */
function formatDocument(item: { readonly amount: Amount }): string {
  return JSON.stringify({ ...item, amount: null }).replace('"amount":null', `"amount":${item.amount.exact}`);
}

export function retirement(id: string, overrides: Partial<Retirement> = {}): Retirement {
  const item = {
    id,
    organizationId: 'organization-1',
    project: { id: 'project-1', fullName: 'Peat bog' },
    serialization: 'ICR-ISL-354-1-14-R-0-2021',
    vintage: '2021',
    amount: amount('12.5'),
    reason: 'Voluntary purposes',
    beneficiary: 'Harbour Ferries',
    comment: null,
    isClaimed: true,
    createdAt: '2026-03-01T10:00:00.000Z',
    ...overrides,
  };
  return { ...item, document: overrides.document ?? formatDocument(item) };
}

export function retirements(count: number, prefix = 'r'): Retirement[] {
  return Array.from({ length: count }, (_, index) =>
    retirement(`${prefix}-${String(index).padStart(5, '0')}`),
  );
}

export function credit(creditId: string, overrides: Partial<Credit> = {}): Credit {
  const item = {
    creditId,
    inventoryId: null,
    organizationId: 'organization-1',
    project: { id: 'project-1', fullName: 'Peat bog' },
    serialization: 'ICR-ISL-354-1-14-R-0-2021',
    vintage: null,
    type: 'exPost',
    tokenId: null,
    tokenAddress: null,
    unit: null,
    amount: amount('100'),
    supply: null,
    ...overrides,
  };
  return { ...item, document: overrides.document ?? formatDocument(item) };
}

export function member(id: string, email: string): Member {
  return { id, fullName: `Member ${id}`, email, document: JSON.stringify({ id, email }) };
}

export function organization(id: string, overrides: Partial<Organization> = {}): Organization {
  const item = {
    id,
    fullName: null,
    type: null,
    countryCode: null,
    city: null,
    zip: null,
    physicalAddress: null,
    registrationNumber: null,
    logo: null,
    website: null,
    isPublic: null,
    createdAt: null,
    updatedAt: null,
    ...overrides,
  };
  return { ...item, document: overrides.document ?? JSON.stringify(item) };
}

export function installation(id: string, overrides: Partial<Installation> = {}): Installation {
  const item = {
    id,
    appId: 'app-1',
    organizationId: 'organization-1',
    organization: null,
    permissions: { organization_info: 'VIEW', organization_warehouse: 'WRITE' },
    createdAt: null,
    updatedAt: null,
    ...overrides,
  };
  return { ...item, document: overrides.document ?? JSON.stringify(item) };
}

export interface Row {
  readonly id?: string;
  readonly document: string;
}

/** Creates a page with one row group that the mirror does not know. */
export function createUnknownPage<Item extends Row>(
  items: readonly Item[],
  arrivedAt: number,
): ObservedPage<Item> {
  const unknownGroups = [createRowGroup(items)];
  const digest = createHash('sha256').update(hashRows(items)).digest('hex');
  return { digest, isKnown: false, knownGroups: [], unknownGroups, items, arrivedAt };
}

/** Creates a page that the mirror knows and that has not changed. */
export function createKnownPage<Item extends Row>(
  items: readonly Item[],
  arrivedAt: number,
): ObservedPage<Item> {
  return { ...createUnknownPage(items, arrivedAt), isKnown: true, unknownGroups: [], items: [] };
}

export function createRowGroup(items: readonly Row[]) {
  return { digest: hashRows(items), ids: items.map(({ id = '' }) => id) };
}

/** Hashes rows. Equal rows in equal order have equal hashes. */
export function hashRows(items: readonly Row[]): string {
  return createHash('sha256')
    .update(items.map(({ document }) => document).join())
    .digest('hex');
}

import type { AddressRecord, AppRecord, OrganizationRecord, UserRecord } from '../store/records.js';
import { toInstant } from '../store/clock.js';
import type { CompleteWorldSpec } from './world-size.js';
import { createRandom, flattenString } from './seeded-random.js';
import {
  APPS,
  COMPANY_FORMS,
  COMPANY_STEMS,
  COUNTRIES,
  FIRST_NAMES,
  LAST_NAMES,
  ORGANIZATIONS,
} from './name-lists.js';

/** When the first organization and the first app were created. */
const FOUNDED = Date.UTC(2022, 1, 1);
const DAY_MS = 86_400_000;
/** How many users each organization has. */
const MEMBERS = 4;

/** Generates two apps. The first app may reserve and request credits, and the second app may only read. */
export function generateApps({ seed }: CompleteWorldSpec): AppRecord[] {
  return APPS.map((name, index) => ({
    id: createRandom(seed, 'app', index).uuid(),
    name,
    nameId: name.toLowerCase().replaceAll(' ', '-'),
    permissions: {
      organization_info: 'VIEW',
      organization_members: 'VIEW',
      organization_warehouse: index === 0 ? 'WRITE' : 'VIEW',
      organization_inventory: index === 0 ? 'REQUEST' : 'VIEW',
    },
    webhookUrl: null,
    webhookSecret: null,
    callbackUrls: [],
    keys: [],
    createdAt: toInstant(FOUNDED + index * DAY_MS),
  }));
}

/** Generates all organizations. The same seed always gives the same organizations. */
export function generateOrganizations(spec: CompleteWorldSpec): OrganizationRecord[] {
  return Array.from({ length: spec.organizations }, (_, index) => generateOrganization(spec.seed, index));
}

/** Generates the organization with this index. The first organizations have fixed names. */
function generateOrganization(seed: number, organizationIndex: number): OrganizationRecord {
  const random = createRandom(seed, 'organization', organizationIndex);
  const [fullName, type] = ORGANIZATIONS[organizationIndex] ?? [
    `${random.pick(COMPANY_STEMS)} Carbon ${organizationIndex + 1}`,
    'other',
  ];
  const country = COUNTRIES[(organizationIndex * 3) % COUNTRIES.length] ?? COUNTRIES[0];
  const createdAt = toInstant(FOUNDED + (organizationIndex % 300) * DAY_MS);
  return {
    id: random.uuid(),
    fullName,
    type,
    countryCode: country.alpha2,
    city: country.city,
    zip: String(10_000 + random.below(89_999)),
    physicalAddress: `${country.places[0]} Street ${1 + random.below(120)}`,
    registrationNumber: `${country.alpha2}-${100_000 + random.below(899_999)}`,
    website: `https://${toDomainName(fullName)}`,
    logo: null,
    isPublic: true,
    warehouseId: random.uuid(),
    claimedAt: null,
    createdAt,
    updatedAt: createdAt,
  };
}

/** Generates four users for each organization. The first user is the administrator. */
export function generateUsers(
  spec: CompleteWorldSpec,
  organizations: readonly OrganizationRecord[],
): UserRecord[] {
  return organizations.flatMap((organization, index) =>
    Array.from({ length: MEMBERS }, (_, position) => {
      const number = index * MEMBERS + position;
      const random = createRandom(spec.seed, 'user', number);
      const first = FIRST_NAMES[number % FIRST_NAMES.length] ?? FIRST_NAMES[0];
      const last = random.pick(LAST_NAMES);
      return {
        id: random.uuid(),
        organizationId: organization.id,
        isAdmin: position === 0,
        email: `${first}.${last}@${toDomainName(organization.fullName)}`.toLowerCase(),
        fullName: `${first} ${last}`,
        profilePicture: null,
        createdAt: organization.createdAt,
      };
    }),
  );
}

/** Generates a default address and a second address for each organization. */
export function generateAddresses(
  { seed }: CompleteWorldSpec,
  organizations: readonly OrganizationRecord[],
): AddressRecord[] {
  return organizations.flatMap((organization, index) => {
    const random = createRandom(seed, 'address', index);
    return ['Main account', 'Trading subaccount'].map((name, position) => ({
      address: `0x${random.hex(40)}`,
      organizationId: organization.id,
      name,
      isDefault: position === 0,
    }));
  });
}

/** Returns a domain name for a company: "Nordic Carbon" → `nordic-carbon.example`. */
function toDomainName(fullName: string): string {
  return `${fullName.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.example`;
}

/** Picks a random company name with one of `trades`, such as `Shipping`. Equal arguments give equal names. */
export function pickCompanyName(
  seed: number,
  streamName: string,
  index: number,
  trades: readonly [string, ...string[]],
): string {
  const random = createRandom(seed, `${streamName} company`, index);
  return flattenString(`${random.pick(COMPANY_STEMS)} ${random.pick(trades)} ${random.pick(COMPANY_FORMS)}`);
}

import { readAmount } from './amount.js';
import {
  badAnswer,
  flag,
  hashOf,
  instant,
  member,
  memberSource,
  optionalId,
  optionalPrintable,
  optionalText,
  requiredId,
  requiredPrintable,
  type Source,
  textOf,
} from './fields.js';
import {
  type Address,
  type Amount,
  type Credit,
  type Installation,
  type InventoryRequest,
  isId,
  type Member,
  type Organization,
  type Project,
  type ProjectReference,
  type Reservation,
  type Retirement,
  type Transaction,
  type User,
} from '../model.js';
import { readPermissions } from './permissions.js';

/** The one place where a name on which the registry wavers is decided. */

export function parseOrganization(source: Source): Organization {
  return {
    id: requiredId(source, 'id'),
    fullName: optionalText(source, 'fullName', 'name'),
    type: optionalText(source, 'type'),
    countryCode: optionalText(source, 'countryCode'),
    city: optionalText(source, 'city'),
    zip: optionalText(source, 'zip'),
    physicalAddress: optionalText(source, 'physicalAddress'),
    registrationNumber: optionalText(source, 'registrationNumber'),
    logo: optionalText(source, 'logo'),
    website: optionalText(source, 'website'),
    isPublic: flag(source, 'isPublic'),
    createdAt: instant(source, 'createdAt'),
    updatedAt: instant(source, 'updatedAt'),
    document: source.text,
  };
}

export function parseInstallation(source: Source): Installation {
  const organization = memberSource(source, 'organization');
  return {
    id: requiredId(source, 'id'),
    appId: optionalId(source, 'appId'),
    organizationId: optionalId(source, 'organizationId') ?? (organization && requiredId(organization, 'id')),
    organization: organization && parseOrganization(organization),
    permissions: readPermissions(source),
    createdAt: instant(source, 'createdAt'),
    updatedAt: instant(source, 'updatedAt'),
    document: source.text,
  };
}

export function parseUser(source: Source): User {
  return {
    id: optionalId(source, 'id'),
    email: optionalText(source, 'email'),
    fullName: optionalText(source, 'fullName', 'name'),
    document: source.text,
  };
}

export function parseCredit(source: Source): Credit {
  return {
    creditId: requiredPrintable(source, 'creditId', 'id'),
    inventoryId: optionalPrintable(source, 'inventoryId'),
    organizationId: optionalPrintable(source, 'organizationId'),
    project: projectReference(source),
    serialization: optionalText(source, 'serialization'),
    vintage: optionalText(source, 'vintage'),
    type: optionalText(source, 'type'),
    tokenId: optionalText(source, 'tokenId'),
    tokenAddress: optionalText(source, 'tokenAddress'),
    unit: optionalText(source, 'unit'),
    amount: readAmount(source.text, source.members['amount']),
    supply: optionalAmount(source, 'supply'),
    document: source.text,
  };
}

export function parseReservation(source: Source): Reservation {
  const reserver = member(source, 'reserver');
  return {
    id: requiredId(source, 'id'),
    creditId: requiredPrintable(source, 'creditId'),
    serialization: optionalText(source, 'serialization'),
    type: optionalText(source, 'type'),
    amount: readAmount(source.text, source.members['amount']),
    project: projectReference(source),
    reserverId: textOf(reserver?.['id']),
    reserverName: textOf(reserver?.['name']),
    state: optionalText(source, 'state'),
    isComplete: flag(source, 'isComplete'),
    reservedToDate: instant(source, 'reservedToDate'),
    createdAt: instant(source, 'createdAt'),
    updatedAt: instant(source, 'updatedAt'),
    document: source.text,
  };
}

export function parseInventoryRequest(source: Source): InventoryRequest {
  const retirement = member(source, 'retirementData');
  return {
    id: requiredId(source, 'id'),
    creditId: requiredPrintable(source, 'creditId'),
    action: optionalText(source, 'action'),
    state: optionalText(source, 'state'),
    type: optionalText(source, 'type'),
    serialization: optionalText(source, 'serialization'),
    vintage: optionalText(source, 'vintage'),
    amount: readAmount(source.text, source.members['amount']),
    fromOrganizationId: optionalPrintable(source, 'fromOrganizationId'),
    toOrganizationId: optionalPrintable(source, 'toOrganizationId'),
    toAddress: optionalText(source, 'toAddress'),
    project: projectReference(source),
    txId: optionalText(source, 'txId'),
    retirementReason: optionalText(source, 'retirementReason', 'reason') ?? textOf(retirement?.['reason']),
    beneficiary:
      optionalText(source, 'beneficiaryName', 'beneficiary') ?? textOf(retirement?.['beneficiaryName']),
    retirementComment:
      optionalText(source, 'retirementComment', 'comment') ?? textOf(retirement?.['comment']),
    createdAt: instant(source, 'createdAt'),
    updatedAt: instant(source, 'updatedAt'),
    document: source.text,
  };
}

export function parseRetirement(source: Source): Retirement {
  return {
    id: requiredId(source, 'id'),
    organizationId:
      optionalPrintable(source, 'organizationId') ?? looseId(member(source, 'organizationOwner')?.['id']),
    project: projectReference(source),
    serialization: optionalText(source, 'serialization'),
    vintage: optionalText(source, 'vintage'),
    amount: readAmount(source.text, source.members['amount']),
    reason: optionalText(source, 'reason', 'retirementReason'),
    beneficiary: optionalText(source, 'beneficiary', 'beneficiaryName'),
    comment: optionalText(source, 'comment', 'retirementComment'),
    isClaimed: flag(source, 'isClaimed'),
    createdAt: instant(source, 'createdAt'),
    document: source.text,
  };
}

export function parseTransaction(source: Source): Transaction {
  return {
    id: requiredPrintable(source, 'id'),
    creditId: optionalPrintable(source, 'creditId'),
    type: optionalText(source, 'type'),
    status: optionalText(source, 'status'),
    amount: readAmount(source.text, source.members['amount']),
    createdAt: instant(source, 'createdAt'),
    updatedAt: instant(source, 'updatedAt'),
    document: source.text,
  };
}

export function parseProject(source: Source): Project {
  return {
    id: requiredId(source, 'id', '_id', 'projectId'),
    num: optionalText(source, 'num'),
    fullName: optionalText(source, 'fullName', 'name'),
    shortDescription: optionalText(source, 'shortDescription'),
    status: titled(source.members['status'] ?? source.members['projectStatus']),
    registry: optionalText(source, 'registry'),
    countryCode: optionalText(source, 'countryCode'),
    sector: titled(source.members['sector']),
    methodology: titled(source.members['methodology']),
    type:
      optionalText(source, 'type') ??
      textOf(member(source, 'type')?.['id']) ??
      titled(source.members['type']),
    startDate: optionalText(source, 'startDate'),
    document: source.text,
  };
}

export function parseAddress(source: Source): Address {
  const address = optionalText(source, 'address', 'publicKey');
  if (isBlank(address)) throw badAnswer(`${source.what}.address`, 'an address', 'none');
  return {
    id: looseId(source.members['id']) ?? hashOf(source.text),
    address,
    name: optionalText(source, 'name', 'fullName'),
    isDefault: flag(source, 'isDefault'),
    document: source.text,
  };
}

export function parseMember(source: Source): Member {
  const fullName = optionalText(source, 'fullName', 'name');
  const email = optionalText(source, 'email');
  if (isBlank(fullName) && isBlank(email)) throw badAnswer(source.what, 'a name or an address', 'neither');
  return {
    id: looseId(source.members['id']) ?? hashOf(source.text),
    fullName,
    email,
    document: source.text,
  };
}

function optionalAmount(source: Source, name: string): Amount | null {
  const value = source.members[name];
  return value === undefined || value === null ? null : readAmount(source.text, value, name);
}

function isBlank(text: string | null): boolean {
  return text === null || text.trim() === '';
}

/** An id in a place where the registry has been seen to send other things too. */
function looseId(value: unknown): string | null {
  return isId(value) ? value : null;
}

function projectReference(source: Source): ProjectReference | null {
  const project = member(source, 'project');
  if (project === null) return flatReference(source);
  const reference = { what: `${source.what}.project`, text: '', members: project };
  return {
    id: requiredId(reference, 'id', '_id', 'projectId'),
    fullName: optionalText(reference, 'fullName', 'name'),
  };
}

function flatReference(source: Source): ProjectReference | null {
  const id = optionalId(source, 'projectId');
  return id === null ? null : { id, fullName: optionalText(source, 'projectName') };
}

/** `{ id, title }`, or plain text. */
function titled(value: unknown): string | null {
  const plain = textOf(value);
  if (plain !== null || typeof value !== 'object' || value === null) return plain;
  const { title, id } = value as { readonly title?: unknown; readonly id?: unknown };
  return textOf(title) ?? textOf(id);
}

import { toTonnes } from './amounts.js';
import { found } from '../http/errors.js';
import type {
  AddressRow,
  AppRow,
  CreditRow,
  HoldingRow,
  InstallationRow,
  InventoryRequestRow,
  OrganizationRow,
  ProjectRow,
  ReservationRow,
  RetirementRow,
  TransactionRow,
  UserRow,
} from '../store/rows.js';
import type { Tables } from '../store/tables.js';

/** Rows as they are sent. Links are only for show, as the registry's own are: nothing answers there. */
const LINKS = 'https://registry.example';

/** The credit that a row is of, and the project that issued it. */
export interface Issued {
  readonly credit: CreditRow;
  readonly issuer: ProjectRow;
}

export function findIssued({ credits, projects }: Tables, creditId: string): Issued {
  const credit = found(credits.get(creditId), 'Credit');
  return { credit, issuer: found(projects.get(credit.project_id), 'Project') };
}

function projectReference({ id, full_name, num }: ProjectRow) {
  return {
    id,
    fullName: full_name,
    url: `${LINKS}/projects/${id}`,
    publicUrl: `${LINKS}/explore/projects/${id}`,
    num,
  };
}

/** So much of a credit, of an organization. */
export type Held = Pick<HoldingRow, 'organization_id' | 'amount_micro'>;

export function inventoryCredit(row: Held, { credit, issuer }: Issued) {
  return {
    id: credit.id,
    organizationId: row.organization_id,
    tokenId: credit.token_id,
    tokenAddress: credit.token_address,
    project: projectReference(issuer),
    serialization: credit.serialization,
    vintage: credit.vintage,
    supply: toTonnes(credit.issued_micro),
    unit: 'tonne',
    amount: toTonnes(row.amount_micro),
    type: credit.type,
  };
}

export function warehouseCredit(row: Held, issued: Issued, inventoryId: string) {
  const { id, ...rest } = inventoryCredit(row, issued);
  return { id, inventoryId, ...rest };
}

export function documentedWarehouseCredit(row: Held, issued: Issued, inventoryId: string) {
  const {
    tokenId: _id,
    tokenAddress: _address,
    vintage: _year,
    supply: _supply,
    unit: _unit,
    ...shown
  } = warehouseCredit(row, issued, inventoryId);
  return shown;
}

export function reservation(row: ReservationRow, { credit, issuer }: Issued, app: AppRow) {
  return {
    id: row.id,
    tokenId: credit.token_id,
    tokenAddress: credit.token_address,
    creditId: row.credit_id,
    serialization: credit.serialization,
    type: credit.type,
    amount: toTonnes(row.amount_micro),
    state: row.state,
    isComplete: row.state === 'finished',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    reservedToDate: row.reserved_to_at,
    project: { id: issuer.id, fullName: issuer.full_name },
    reserver: { id: app.id, name: app.name },
  };
}

export function inventoryRequest(row: InventoryRequestRow, { credit, issuer }: Issued) {
  return {
    id: row.id,
    action: row.action,
    creditId: row.credit_id,
    tokenId: credit.token_id,
    tokenAddress: credit.token_address,
    serialization: credit.serialization,
    vintage: credit.vintage,
    type: credit.type,
    amount: toTonnes(row.amount_micro),
    state: row.state,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    fromOrganizationId: row.organization_id,
    ...present({
      toOrganizationId: row.to_organization_id,
      toAddress: row.to_address,
      txId: row.tx_id,
      retirementReason: row.reason,
      beneficiaryName: row.beneficiary,
      retirementComment: row.comment,
    }),
    project: projectReference(issuer),
  };
}

/** An unclaimed retirement names neither its organization nor anyone it was made for. */
export function retirement(row: RetirementRow, { credit, issuer }: Issued, ofWhom: OrganizationRow) {
  const common = {
    id: row.id,
    createdAt: row.created_at,
    isClaimed: row.is_claimed,
    amount: toTonnes(row.amount_micro),
    serialization: credit.serialization,
    vintage: credit.vintage,
    project: projectReference(issuer),
  };
  if (!common.isClaimed) return common;
  return {
    ...common,
    ...present({ reason: row.reason, comment: row.comment, beneficiary: row.beneficiary }),
    organizationId: row.organization_id,
    organizationOwner: owner(ofWhom),
  };
}

export function organization(row: OrganizationRow) {
  return {
    id: row.id,
    fullName: row.full_name,
    logo: row.logo,
    url: `${LINKS}/organizations/${row.id}`,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    countryCode: row.country_code,
    city: row.city,
    zip: row.zip,
    physicalAddress: row.physical_address,
    registrationNumber: row.registration_number,
    website: row.website,
    organizationIndustries: null,
    type: row.type,
    isPublic: row.is_public,
  };
}

/** The registry shows no state on an installation. */
export function installation(row: InstallationRow, app: AppRow, ofWhom: OrganizationRow) {
  return {
    id: row.id,
    appId: row.app_id,
    appNameId: app.name_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    permissions: row.permissions,
    organization: organization(ofWhom),
    accessTokensUrl: `${LINKS}/app/installations/${row.id}/accessTokens`,
  };
}

export function address(row: AddressRow) {
  return { address: row.address, name: row.name, isDefault: row.is_default };
}

export function member(row: UserRow) {
  return { id: row.id, fullName: row.full_name, email: row.email };
}

export function user(row: UserRow) {
  return {
    id: row.id,
    email: row.email,
    fullName: row.full_name,
    profilePicture: row.profile_picture,
    url: `${LINKS}/users/${row.id}`,
  };
}

/** The rest of what the registry shows of a project, where nobody told it. */
const UNTOLD = {
  thumbnail: null,
  sector: { id: '0', title: 'Other' },
  methodology: { id: '0', title: 'Other' },
  type: { id: 'other', title: 'Other', description: '' },
  otherBenefits: [],
  validators: [],
  estimatedAnnualMitigations: [],
  additionalities: [],
  location: null,
  kmlFile: null,
};

export function project(row: ProjectRow, proponent: OrganizationRow | undefined) {
  return {
    id: row.id,
    num: row.num,
    fullName: row.full_name,
    description: row.description,
    shortDescription: row.short_description,
    publicUrl: `${LINKS}/explore/projects/${row.id}`,
    registry: 'ICR',
    status: row.status,
    city: row.city,
    state: null,
    countryCode: row.country_code,
    startDate: row.start_date,
    creditingPeriodStartDate: row.crediting_period_start_date,
    proponents: proponent === undefined ? [] : [owner(proponent)],
    ...UNTOLD,
    ...row.details,
  };
}

function owner({ id, full_name, logo }: OrganizationRow) {
  return { id, fullName: full_name, logo, publicUrl: `${LINKS}/explore/organizations/${id}` };
}

export interface IssuedRow extends CreditRow {
  retired_micro: number;
}

/** Nothing is cancelled here, and nothing validated beyond what was issued. */
export function summarize(rows: readonly IssuedRow[]) {
  const sum = (micros: readonly number[]) => toTonnes(micros.reduce((total, micro) => total + micro, 0));
  const issued = (type: string) =>
    sum(rows.filter(row => row.type === type).map(({ issued_micro }) => issued_micro));
  return {
    exPost: issued('exPost'),
    exPostCancelled: 0,
    exAnte: issued('exAnte'),
    exAnteCancelled: 0,
    retired: sum(rows.map(({ retired_micro }) => retired_micro)),
    validated: sum(rows.map(({ issued_micro }) => issued_micro)),
  };
}

export function issuance(row: IssuedRow) {
  return {
    id: row.id,
    vintage: row.vintage,
    createdAt: row.created_at,
    amount: toTonnes(row.issued_micro),
    type: 'issuance',
    creditType: row.type,
    monitoringPeriodStart: `${row.vintage}-01-01`,
    monitoringPeriodEnd: `${row.vintage}-12-31`,
    files: [],
    verificationBody: null,
  };
}

export function transaction(row: TransactionRow) {
  return {
    id: row.id,
    creditId: row.credit_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    status: row.status,
    type: row.type,
    amount: toTonnes(row.amount_micro),
  };
}

function present(fields: Readonly<Record<string, string | null>>): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== null) sent[name] = value;
  return sent;
}

import { toTonnes } from './amounts.js';
import { parseGrants } from './permissions.js';
import type {
  AddressRow,
  CreditRow,
  InstallationRow,
  InventoryRequestRow,
  OrganizationRow,
  ProjectRow,
  ReservationRow,
  RetirementRow,
  TransactionRow,
  UserRow,
} from '../store/schema.js';

/** Rows as they are sent. Links are only for show, as the registry's own are: nothing answers there. */
const LINKS = 'https://registry.example';

export interface ProjectColumns {
  project_id: string;
  project_name: string;
  project_num: string;
}

function projectReference({ project_id, project_name, project_num }: ProjectColumns) {
  return {
    id: project_id,
    fullName: project_name,
    url: `${LINKS}/projects/${project_id}`,
    publicUrl: `${LINKS}/explore/projects/${project_id}`,
    num: project_num,
  };
}

export interface CreditColumns extends ProjectColumns {
  credit_id: string;
  token_id: string;
  token_address: string;
  serialization: string;
  vintage: string;
  type: string;
}

export interface HoldingColumns extends CreditColumns {
  organization_id: string;
  issued_micro: number;
  amount_micro: number;
}

export function inventoryCredit(row: HoldingColumns) {
  return {
    id: row.credit_id,
    organizationId: row.organization_id,
    tokenId: row.token_id,
    tokenAddress: row.token_address,
    project: projectReference(row),
    serialization: row.serialization,
    vintage: row.vintage,
    supply: toTonnes(row.issued_micro),
    unit: 'tonne',
    amount: toTonnes(row.amount_micro),
    type: row.type,
  };
}

export function warehouseCredit(row: HoldingColumns, inventoryId: string) {
  const { id, ...rest } = inventoryCredit(row);
  return { id, inventoryId, ...rest };
}

export function documentedWarehouseCredit(row: HoldingColumns, inventoryId: string) {
  const {
    tokenId: _id,
    tokenAddress: _address,
    vintage: _year,
    supply: _supply,
    unit: _unit,
    ...shown
  } = warehouseCredit(row, inventoryId);
  return shown;
}

export function reservation(row: ReservationRow & CreditColumns & { app_name: string }) {
  return {
    id: row.id,
    tokenId: row.token_id,
    tokenAddress: row.token_address,
    creditId: row.credit_id,
    serialization: row.serialization,
    type: row.type,
    amount: toTonnes(row.amount_micro),
    state: row.state,
    isComplete: row.state === 'finished',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    reservedToDate: row.reserved_to_at,
    project: { id: row.project_id, fullName: row.project_name },
    reserver: { id: row.app_id, name: row.app_name },
  };
}

export function inventoryRequest(row: InventoryRequestRow & CreditColumns) {
  return {
    id: row.id,
    action: row.action,
    creditId: row.credit_id,
    tokenId: row.token_id,
    tokenAddress: row.token_address,
    serialization: row.serialization,
    vintage: row.vintage,
    type: row.type,
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
    project: projectReference(row),
  };
}

/** An unclaimed retirement names neither its organization nor anyone it was made for. */
export function retirement(
  row: RetirementRow & CreditColumns & { organization_name: string; logo: string | null },
) {
  const common = {
    id: row.id,
    createdAt: row.created_at,
    isClaimed: row.is_claimed === 1,
    amount: toTonnes(row.amount_micro),
    serialization: row.serialization,
    vintage: row.vintage,
    project: projectReference(row),
  };
  if (!common.isClaimed) return common;
  return {
    ...common,
    ...present({ reason: row.reason, comment: row.comment, beneficiary: row.beneficiary }),
    organizationId: row.organization_id,
    organizationOwner: {
      id: row.organization_id,
      fullName: row.organization_name,
      logo: row.logo,
      publicUrl: `${LINKS}/explore/organizations/${row.organization_id}`,
    },
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
    isPublic: row.is_public === 1,
  };
}

/** The registry shows no state on an installation. */
export function installation(row: InstallationRow & { app_name_id: string }, owner: OrganizationRow) {
  return {
    id: row.id,
    appId: row.app_id,
    appNameId: row.app_name_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    permissions: parseGrants(row.permissions),
    organization: organization(owner),
    accessTokensUrl: `${LINKS}/app/installations/${row.id}/accessTokens`,
  };
}

export function address(row: AddressRow) {
  return { address: row.address, name: row.name, isDefault: row.is_default === 1 };
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

export interface WholeProjectRow extends ProjectRow {
  proponent_name: string | null;
  proponent_logo: string | null;
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

export function project(row: WholeProjectRow) {
  const details: Record<string, unknown> = JSON.parse(row.details);
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
    state: row.state,
    countryCode: row.country_code,
    startDate: row.start_date,
    creditingPeriodStartDate: row.crediting_period_start_date,
    proponents: proponentsOf(row),
    ...UNTOLD,
    ...details,
  };
}

function proponentsOf({ proponent_id: id, proponent_name, proponent_logo }: WholeProjectRow) {
  if (id === null) return [];
  const publicUrl = `${LINKS}/explore/organizations/${id}`;
  return [{ id, fullName: proponent_name, logo: proponent_logo, publicUrl }];
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

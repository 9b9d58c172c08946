import { toTonnes } from './amounts.js';
import type {
  AddressRecord,
  AppRecord,
  CreditRecord,
  HoldingRecord,
  InstallationRecord,
  InventoryRequestRecord,
  OrganizationRecord,
  ProjectRecord,
  ReservationRecord,
  RetirementRecord,
  TransactionRecord,
  UserRecord,
} from '../store/records.js';
import type { RegistryTables } from '../store/tables.js';

/** The beginning of links in responses. Nothing is served there; the registry's own links lead to web pages. */
const LINK_BASE = 'https://registry.example';

/** A credit and the project that issued the credit. */
export interface CreditWithProject {
  readonly credit: CreditRecord;
  readonly project: ProjectRecord;
}

/** Returns a credit and the project that issued the credit. Throws a 404 error for an unknown credit. */
export function getCreditWithProject(
  { credits, projects }: RegistryTables,
  creditId: string,
): CreditWithProject {
  const credit = credits.getOrThrow(creditId);
  return { credit, project: projects.getOrThrow(credit.projectId) };
}

/** Converts a project to short JSON: id, name, number and links. */
function toProjectReferenceJson({ id, fullName, num }: ProjectRecord) {
  const url = `${LINK_BASE}/projects/${id}`;
  const publicUrl = `${LINK_BASE}/explore/projects/${id}`;
  return { id, fullName, url, publicUrl, num };
}

/** Returns the token fields of a credit, which reservations and requests repeat. */
function toTokenFields({ tokenId, tokenAddress, serialization, type }: CreditRecord) {
  return { tokenId, tokenAddress, serialization, type };
}

/** An amount of a credit that an organization holds. */
type HoldingAmount = Pick<HoldingRecord, 'organizationId' | 'amountMicro'>;

/** Converts a credit in an inventory to JSON, with the amount that the inventory holds. */
export function toInventoryCreditJson(
  { organizationId, amountMicro }: HoldingAmount,
  { credit, project }: CreditWithProject,
) {
  return {
    id: credit.id,
    organizationId,
    ...toTokenFields(credit),
    project: toProjectReferenceJson(project),
    vintage: credit.vintage,
    supply: toTonnes(credit.issuedMicro),
    unit: 'tonne',
    amount: toTonnes(amountMicro),
  };
}

/** Converts a credit in a warehouse to JSON, with the amount that the warehouse holds. */
export function toWarehouseCreditJson(
  holding: HoldingAmount,
  credit: CreditWithProject,
  warehouseId: string,
) {
  return { ...toInventoryCreditJson(holding, credit), inventoryId: warehouseId };
}

/** Converts a credit in a warehouse to JSON that has only the fields in the registry's documentation. */
export function toDocumentedWarehouseCreditJson(
  holding: HoldingAmount,
  credit: CreditWithProject,
  warehouseId: string,
) {
  const { id, organizationId, serialization, amount, type, ...more } = toInventoryCreditJson(holding, credit);
  return { id, inventoryId: warehouseId, organizationId, project: more.project, serialization, amount, type };
}

/** Converts a reservation to JSON, including the credit and the app that reserved the credit. */
export function toReservationJson(
  row: ReservationRecord,
  { credit, project }: CreditWithProject,
  app: AppRecord,
) {
  const { appId: _app, amountMicro, organizationId: _owner, ...shown } = row;
  return {
    ...shown,
    ...toTokenFields(credit),
    amount: toTonnes(amountMicro),
    isComplete: row.state === 'finished',
    project: { id: project.id, fullName: project.fullName },
    reserver: { id: app.id, name: app.name },
  };
}

/** Converts an inventory request to JSON. Omits fields that are null. */
export function toInventoryRequestJson(row: InventoryRequestRecord, { credit, project }: CreditWithProject) {
  const {
    organizationId,
    amountMicro,
    retirementDetails: retirement,
    toOrganizationId,
    toAddress,
    txId,
    appId: _app,
    ...shown
  } = row;
  const details = {
    retirementReason: retirement?.reason ?? null,
    beneficiaryName: retirement?.beneficiary ?? null,
    retirementComment: retirement?.comment ?? null,
  };
  return {
    ...shown,
    ...toTokenFields(credit),
    vintage: credit.vintage,
    amount: toTonnes(amountMicro),
    fromOrganizationId: organizationId,
    ...omitNulls({ toOrganizationId, toAddress, txId, ...details }),
    project: toProjectReferenceJson(project),
  };
}

/** Converts a retirement to JSON. Omits the organization if the retirement has no beneficiary yet. */
export function toRetirementJson(
  row: RetirementRecord,
  { credit, project }: CreditWithProject,
  organization: OrganizationRecord,
) {
  const { id, createdAt, details, organizationId } = row;
  const common = {
    id,
    createdAt,
    isClaimed: details !== null,
    amount: toTonnes(row.amountMicro),
    serialization: credit.serialization,
    vintage: credit.vintage,
    project: toProjectReferenceJson(project),
  };
  if (details === null) return common;
  return {
    ...common,
    ...omitNulls({ ...details }),
    organizationId,
    organizationOwner: toOwnerJson(organization),
  };
}

/** Converts an organization to the registry's JSON. */
export function toOrganizationJson({
  warehouseId: _warehouse,
  claimedAt: _claimed,
  ...shown
}: OrganizationRecord) {
  return { ...shown, url: `${LINK_BASE}/organizations/${shown.id}`, organizationIndustries: null };
}

/** Converts an installation to JSON without its state, which the real registry omits too. */
export function toInstallationJson(
  row: InstallationRecord,
  app: AppRecord,
  organization: OrganizationRecord,
) {
  const { organizationId: _owner, state: _state, ...shown } = row;
  return {
    ...shown,
    appNameId: app.nameId,
    organization: toOrganizationJson(organization),
    accessTokensUrl: `${LINK_BASE}/app/installations/${row.id}/accessTokens`,
  };
}

/** Converts an organization's address to the registry's JSON. */
export function toAddressJson({ address: text, name, isDefault }: AddressRecord) {
  return { address: text, name, isDefault };
}

/** Converts a user to the JSON of an organization's member list. */
export function toMemberJson({ id, fullName, email }: UserRecord) {
  return { id, fullName, email };
}

/** Converts a user to the registry's JSON. */
export function toUserJson({ id, email, fullName, profilePicture }: UserRecord) {
  return { id, email, fullName, profilePicture, url: `${LINK_BASE}/users/${id}` };
}

/** Default values of the fields that the registry shows of every project. */
const PROJECT_DEFAULTS = {
  registry: 'ICR',
  state: null,
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

/** Converts a project to JSON. Fields that the sandbox does not store get a default value. */
export function toProjectJson(row: ProjectRecord, proponent: OrganizationRecord | undefined) {
  const {
    proponentId: _proponent,
    isPublic: _public,
    createdAt: _createdAt,
    updatedAt: _updatedAt,
    details,
    ...shown
  } = row;
  const proponents = proponent === undefined ? [] : [toOwnerJson(proponent)];
  const { publicUrl } = toProjectReferenceJson(row);
  return { ...shown, publicUrl, proponents, ...PROJECT_DEFAULTS, ...details };
}

/** Converts an organization to short JSON: id, name, logo and link. */
function toOwnerJson({ id, fullName, logo }: OrganizationRecord) {
  return { id, fullName, logo, publicUrl: `${LINK_BASE}/explore/organizations/${id}` };
}

/** A credit with its retired amount in millionths of a tonne. */
interface IssuedCredit extends CreditRecord {
  readonly retiredMicro: number;
}

/** Amounts of some credits in tonnes. The sandbox cancels no credits, and validates exactly what it issues. */
export interface CreditSummary {
  /** The issued amount of credits of the type `exPost`. */
  readonly exPost: number;
  readonly exPostCancelled: 0;
  /** The issued amount of credits of the type `exAnte`. */
  readonly exAnte: number;
  readonly exAnteCancelled: 0;
  readonly retired: number;
  /** The issued amount of all credits. */
  readonly validated: number;
}

/**
 * Sums credits in tonnes: the amounts issued as ex post, issued as ex ante, issued in total (`validated`) and retired. The
 * cancelled amounts are always 0.
 */
export function summarizeCredits(rows: readonly IssuedCredit[]): CreditSummary {
  const sumTonnes = (amounts: readonly number[]) =>
    toTonnes(amounts.reduce((total, amountMicro) => total + amountMicro, 0));
  const sumIssued = (credits: readonly IssuedCredit[]) =>
    sumTonnes(credits.map(({ issuedMicro }) => issuedMicro));
  return {
    exPost: sumIssued(rows.filter(({ type }) => type === 'exPost')),
    exPostCancelled: 0,
    exAnte: sumIssued(rows.filter(({ type }) => type === 'exAnte')),
    exAnteCancelled: 0,
    retired: sumTonnes(rows.map(({ retiredMicro }) => retiredMicro)),
    validated: sumIssued(rows),
  };
}

/** Returns the JSON of an `issuance` event, with the time and the amount of a credit's issuance. */
export function toIssuanceJson({ id, vintage, createdAt, issuedMicro, type }: IssuedCredit) {
  return {
    id,
    vintage,
    createdAt,
    amount: toTonnes(issuedMicro),
    type: 'issuance',
    creditType: type,
    monitoringPeriodStart: `${vintage}-01-01`,
    monitoringPeriodEnd: `${vintage}-12-31`,
    files: [],
    verificationBody: null,
  };
}

/** Converts a transaction to the JSON that webhooks contain. */
export function toTransactionJson({
  id,
  creditId,
  createdAt,
  updatedAt,
  status,
  type,
  amountMicro,
}: TransactionRecord) {
  return { id, creditId, createdAt, updatedAt, status, type, amount: toTonnes(amountMicro) };
}

/** Returns a copy of an object without the fields that are null. */
export function omitNulls<Value>(fields: Readonly<Record<string, Value | null>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

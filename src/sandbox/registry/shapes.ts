import { toTonnes } from './amounts.js';
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
  const credit = credits.find(creditId);
  return { credit, issuer: projects.find(credit.projectId) };
}

function projectReference({ id, fullName, num }: ProjectRow) {
  const [url, publicUrl] = [`${LINKS}/projects/${id}`, `${LINKS}/explore/projects/${id}`];
  return { id, fullName, url, publicUrl, num };
}

/** What is told of a credit beside each amount of it. */
function token({ tokenId, tokenAddress, serialization, type }: CreditRow) {
  return { tokenId, tokenAddress, serialization, type };
}

/** So much of a credit, of an organization. */
type Held = Pick<HoldingRow, 'organizationId' | 'amountMicro'>;

export function inventoryCredit({ organizationId, amountMicro }: Held, { credit, issuer }: Issued) {
  return {
    id: credit.id,
    organizationId,
    ...token(credit),
    project: projectReference(issuer),
    vintage: credit.vintage,
    supply: toTonnes(credit.issuedMicro),
    unit: 'tonne',
    amount: toTonnes(amountMicro),
  };
}

export function warehouseCredit(row: Held, issued: Issued, inventoryId: string) {
  return { ...inventoryCredit(row, issued), inventoryId };
}

export function documentedWarehouseCredit(row: Held, issued: Issued, inventoryId: string) {
  const { id, organizationId, serialization, amount, type, ...more } = inventoryCredit(row, issued);
  return { id, inventoryId, organizationId, project: more.project, serialization, amount, type };
}

export function reservation(row: ReservationRow, { credit, issuer }: Issued, app: AppRow) {
  const { appId: _app, amountMicro, organizationId: _owner, ...shown } = row;
  return {
    ...shown,
    ...token(credit),
    amount: toTonnes(amountMicro),
    isComplete: row.state === 'finished',
    project: { id: issuer.id, fullName: issuer.fullName },
    reserver: { id: app.id, name: app.name },
  };
}

export function inventoryRequest(row: InventoryRequestRow, { credit, issuer }: Issued) {
  const {
    organizationId,
    amountMicro,
    words,
    toOrganizationId,
    toAddress,
    txId,
    appId: _app,
    ...shown
  } = row;
  const told = {
    retirementReason: words?.reason ?? null,
    beneficiaryName: words?.beneficiary ?? null,
    retirementComment: words?.comment ?? null,
  };
  return {
    ...shown,
    ...token(credit),
    vintage: credit.vintage,
    amount: toTonnes(amountMicro),
    fromOrganizationId: organizationId,
    ...present({ toOrganizationId, toAddress, txId, ...told }),
    project: projectReference(issuer),
  };
}

/** An unclaimed retirement names neither its organization nor anyone it was made for. */
export function retirement(row: RetirementRow, { credit, issuer }: Issued, ofWhom: OrganizationRow) {
  const { id, createdAt, words, organizationId } = row;
  const common = {
    id,
    createdAt,
    isClaimed: words !== null,
    amount: toTonnes(row.amountMicro),
    serialization: credit.serialization,
    vintage: credit.vintage,
    project: projectReference(issuer),
  };
  if (words === null) return common;
  return { ...common, ...present({ ...words }), organizationId, organizationOwner: owner(ofWhom) };
}

export function organization({ warehouseId: _warehouse, claimedAt: _claimed, ...shown }: OrganizationRow) {
  return { ...shown, url: `${LINKS}/organizations/${shown.id}`, organizationIndustries: null };
}

/** The registry shows no state on an installation. */
export function installation(row: InstallationRow, app: AppRow, ofWhom: OrganizationRow) {
  const { organizationId: _owner, state: _state, ...shown } = row;
  return {
    ...shown,
    appNameId: app.nameId,
    organization: organization(ofWhom),
    accessTokensUrl: `${LINKS}/app/installations/${row.id}/accessTokens`,
  };
}

export function address({ address: text, name, isDefault }: AddressRow) {
  return { address: text, name, isDefault };
}

export function member({ id, fullName, email }: UserRow) {
  return { id, fullName, email };
}

export function user({ id, email, fullName, profilePicture }: UserRow) {
  return { id, email, fullName, profilePicture, url: `${LINKS}/users/${id}` };
}

/** The rest of what the registry shows of a project, where nobody told it. */
const UNTOLD = {
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

export function project(row: ProjectRow, proponent: OrganizationRow | undefined) {
  const {
    proponentId: _proponent,
    isPublic: _public,
    createdAt: _at,
    updatedAt: _then,
    details,
    ...shown
  } = row;
  const proponents = proponent === undefined ? [] : [owner(proponent)];
  const { publicUrl } = projectReference(row);
  return { ...shown, publicUrl, proponents, ...UNTOLD, ...details };
}

function owner({ id, fullName, logo }: OrganizationRow) {
  return { id, fullName, logo, publicUrl: `${LINKS}/explore/organizations/${id}` };
}

interface IssuedRow extends CreditRow {
  readonly retiredMicro: number;
}

/** Nothing is cancelled here, and nothing validated beyond what was issued. */
export function summarize(rows: readonly IssuedRow[]) {
  const sum = (micros: readonly number[]) => toTonnes(micros.reduce((total, micro) => total + micro, 0));
  const issued = (of: readonly IssuedRow[]) => sum(of.map(({ issuedMicro }) => issuedMicro));
  return {
    exPost: issued(rows.filter(({ type }) => type === 'exPost')),
    exPostCancelled: 0,
    exAnte: issued(rows.filter(({ type }) => type === 'exAnte')),
    exAnteCancelled: 0,
    retired: sum(rows.map(({ retiredMicro }) => retiredMicro)),
    validated: issued(rows),
  };
}

export function issuance({ id, vintage, createdAt, issuedMicro, type }: IssuedRow) {
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

export function transaction({
  id,
  creditId,
  createdAt,
  updatedAt,
  status,
  type,
  amountMicro,
}: TransactionRow) {
  return { id, creditId, createdAt, updatedAt, status, type, amount: toTonnes(amountMicro) };
}

/** Only what is told. */
export function present<Value>(fields: Readonly<Record<string, Value | null>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );
}

import type { Credit, Installation, Organization, Project, Retirement } from '../../registry/model.js';
import type { Page } from '../../registry/reading.js';
import type { RegistryClient } from '../../registry/clients.js';
import { CommandFault, EXIT } from '../exit.js';
import { findInstallation, findInstalled } from '../named/live.js';
import type { Row } from '../output/output.js';

export const LIVE = ['--live', 'ask the registry instead of the mirror'] as const;

export interface ListOptions {
  readonly organization?: string;
  readonly limit: string;
  readonly live?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly verbatim?: boolean;
  readonly excel?: boolean;
  readonly out?: string;
  readonly asOf?: string;
}

/** How the same rows are asked of the registry itself. */
export type LiveList = (client: RegistryClient, options: ListOptions) => AsyncIterable<Row>;
export type LiveOne = (client: RegistryClient, id: string, options: ListOptions) => Promise<Row>;

/** The registry's answers in the columns of the mirror's tables, so that both read alike. */
export async function* liveInstallations(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  for await (const installation of installationsOf(client, options)) yield installationRow(installation);
}

export async function liveInstallation(client: RegistryClient, id: string): Promise<Row> {
  return installationRow(await findInstallation(client, id));
}

export async function* liveOrganizations(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  for await (const { organization } of installationsOf(client, options)) {
    if (organization !== null) yield organizationRow(organization);
  }
}

export async function liveOrganization(client: RegistryClient, id: string): Promise<Row> {
  const { owner } = await organizationOf(client, { organization: id });
  return organizationRow(await owner.readOrganization());
}

async function* installationsOf(
  client: RegistryClient,
  { organization }: ListOptions,
): AsyncIterable<Installation> {
  const of = organization === undefined ? null : await findInstalled(client, organization);
  for await (const { items } of client.app.listInstallations()) {
    yield* of === null ? items : items.filter(({ organizationId }) => organizationId === of.organizationId);
  }
}

export async function* liveWarehouse(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  yield* creditRows((await organizationOf(client, options)).owner.readWarehouse());
}

export async function* liveInventory(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  yield* creditRows((await organizationOf(client, options)).owner.readInventory());
}

export async function* liveRetirements(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  yield* rowsOf((await organizationOf(client, options)).owner.listRetirements(), retirementRow);
}

export async function liveRetirement(client: RegistryClient, id: string): Promise<Row> {
  return retirementRow(await client.token.readRetirement(id));
}

/** Of one organization: those that its credits and retirements name, as in the mirror. */
export async function* liveProjects(client: RegistryClient, options: ListOptions): AsyncIterable<Row> {
  const named = options.organization === undefined ? null : await readProjectIds(client, options);
  for await (const { items } of client.token.listProjects()) {
    yield* items.filter(({ id }) => named?.has(id) ?? true).map(projectRow);
  }
}

async function readProjectIds(client: RegistryClient, options: ListOptions): Promise<ReadonlySet<string>> {
  const { owner } = await organizationOf(client, options);
  const ids = new Set<string>();
  for (const batches of [owner.readWarehouse(), owner.readInventory()]) {
    for await (const credits of batches) for (const { project } of credits) if (project) ids.add(project.id);
  }
  for await (const { items } of owner.listRetirements()) {
    for (const { project } of items) if (project) ids.add(project.id);
  }
  return ids;
}

export async function liveProject(client: RegistryClient, id: string): Promise<Row> {
  return projectRow(await client.token.readProject(id));
}

/** The client of one organization, found by what people call it. */
export async function organizationOf(client: RegistryClient, options: { readonly organization?: string }) {
  if (options.organization === undefined) {
    throw new CommandFault(
      EXIT.usage,
      'Expected --organization ID: the registry answers for one organization at a time.',
      'See "carbon-mirror organizations list --live" for the ids.',
    );
  }
  const { installationId, organizationId } = await findInstalled(client, options.organization);
  return { organizationId, owner: client.organization(installationId, organizationId) };
}

async function* rowsOf<T>(pages: AsyncIterable<Page<T>>, toRow: (item: T) => Row): AsyncIterable<Row> {
  for await (const page of pages) yield* page.items.map(toRow);
}

async function* creditRows(batches: AsyncIterable<readonly Credit[]>): AsyncIterable<Row> {
  for await (const batch of batches) yield* batch.map(creditRow);
}

function installationRow(installation: Installation): Row {
  return {
    id: installation.id,
    organization_id: installation.organizationId,
    state: null,
    permissions: JSON.stringify(installation.permissions),
    valid_from: null,
    document: installation.document,
  };
}

function organizationRow(organization: Organization): Row {
  return {
    id: organization.id,
    full_name: organization.fullName,
    type: organization.type,
    country_code: organization.countryCode,
    website: organization.website,
    valid_from: null,
    document: organization.document,
  };
}

function creditRow(credit: Credit): Row {
  return {
    organization_id: credit.organizationId,
    credit_id: credit.creditId,
    project_name: credit.project?.fullName,
    vintage: credit.vintage,
    type: credit.type,
    amount_exact: credit.amount.exact,
    serialization: credit.serialization,
    document: credit.document,
  };
}

function retirementRow(retirement: Retirement): Row {
  return {
    id: retirement.id,
    organization_id: retirement.organizationId,
    created_at: retirement.createdAt,
    amount_exact: retirement.amount.exact,
    beneficiary: retirement.beneficiary,
    project_name: retirement.project?.fullName,
    vintage: retirement.vintage,
    document: retirement.document,
  };
}

export function projectRow(project: Project): Row {
  return {
    id: project.id,
    num: project.num,
    full_name: project.fullName,
    status: project.status,
    country_code: project.countryCode,
    sector: project.sector,
    type: project.type,
    document: project.document,
  };
}

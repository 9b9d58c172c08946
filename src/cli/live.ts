import type { Credit, Installation, Organization, Project, Retirement } from '../registry/model.js';
import type { Page } from '../registry/reading.js';
import type { Client } from '../auth/client.js';
import { CommandFault, EXIT } from './exit.js';
import type { ListOptions } from './lists.js';
import type { Row } from './output.js';

/** The registry's answers in the columns of the mirror's tables, so that both read alike. */
export async function* liveInstallations(client: Client): AsyncIterable<Row> {
  for await (const page of client.app.listInstallations()) yield* page.items.map(installationRow);
}

export async function liveInstallation(client: Client, id: string): Promise<Row> {
  return installationRow(await client.app.readInstallation(id));
}

export async function* liveOrganizations(client: Client): AsyncIterable<Row> {
  for await (const page of client.app.listInstallations()) {
    for (const { organization } of page.items) if (organization !== null) yield organizationRow(organization);
  }
}

export async function liveOrganization(client: Client, id: string): Promise<Row> {
  const installation = await client.app.readInstallationOf(id);
  return organizationRow(await client.organization(installation.id, id).readOrganization());
}

export async function* liveWarehouse(client: Client, options: ListOptions): AsyncIterable<Row> {
  yield* creditRows((await organizationOf(client, options)).readWarehouse());
}

export async function* liveInventory(client: Client, options: ListOptions): AsyncIterable<Row> {
  yield* creditRows((await organizationOf(client, options)).readInventory());
}

export async function* liveRetirements(client: Client, options: ListOptions): AsyncIterable<Row> {
  yield* rowsOf((await organizationOf(client, options)).listRetirements(), retirementRow);
}

export async function liveRetirement(client: Client, id: string): Promise<Row> {
  return retirementRow(await client.token.readRetirement(id));
}

export async function* liveProjects(client: Client): AsyncIterable<Row> {
  yield* rowsOf(client.token.listProjects(), projectRow);
}

export async function liveProject(client: Client, id: string): Promise<Row> {
  return projectRow(await client.token.readProject(id));
}

/** The client of one organization, found by the organization's id. */
export async function organizationOf(client: Client, options: { readonly organization?: string }) {
  if (options.organization === undefined) {
    throw new CommandFault(
      EXIT.usage,
      'Expected --organization ID: the registry answers for one organization at a time.',
      'See "carbon-mirror organizations list --live" for the ids.',
    );
  }
  const installation = await client.app.readInstallationOf(options.organization);
  return client.organization(installation.id, options.organization);
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

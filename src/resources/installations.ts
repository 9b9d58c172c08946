import type { Installation } from '../registry/object-models.js';
import { toReadableText } from './sql-values.js';
import { type ResourceEntry, createNamedColumns } from './entry.js';

const COLUMNS = ['organization_id', 'app_id', 'state', 'permissions', 'created_at', 'updated_at'] as const;

export const INSTALLATIONS: ResourceEntry = {
  table: 'installations',
  scope: null,
  key: createNamedColumns('id'),
  columns: createNamedColumns(...COLUMNS),
  hasDocument: true,
  permission: null,
  source: 'installations',
};

/** The columns of an installation that are read from the registry's object. `state` is not one: the mirror decides it. */
export interface InstallationColumns {
  readonly id: string;
  readonly organization_id: string | null;
  readonly app_id: string | null;
  readonly permissions: string;
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly document: string;
}

/** Returns the column values of an installation, in the order of the table's columns. */
export function toInstallationValues(
  row: InstallationColumns & { readonly state: string },
): (string | null)[] {
  return [row.id, ...COLUMNS.map(name => row[name])];
}

/** Converts an installation from the registry to the columns of its database row. */
export function toInstallationColumns(installation: Installation): InstallationColumns {
  return {
    id: installation.id,
    organization_id: installation.organizationId ?? installation.organization?.id ?? null,
    app_id: toReadableText(installation.appId),
    permissions: JSON.stringify(installation.permissions),
    created_at: installation.createdAt,
    updated_at: installation.updatedAt,
    document: installation.document,
  };
}

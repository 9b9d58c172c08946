import type { Installation } from '../registry/model.js';
import { readableText } from './columns.js';
import { sortBy, type ResourceEntry, namedColumns } from './entry.js';

const COLUMNS = ['organization_id', 'app_id', 'state', 'permissions', 'created_at', 'updated_at'] as const;

export const INSTALLATIONS: ResourceEntry = {
  table: 'installations',
  scope: null,
  readInterval: 'round',
  key: namedColumns('id'),
  columns: namedColumns(...COLUMNS),
  hasDocument: true,
  permission: null,
  display: {
    from: 'installations',
    columns: ['organization_name', 'state', 'id', 'organization_id', 'valid_from', 'permissions'],
    order: sortBy('organization_id asc', 'id asc'),
  },
};

/** The columns that the registry's object makes. */
export interface InstallationRow {
  readonly id: string;
  readonly organization_id: string | null;
  readonly app_id: string | null;
  readonly permissions: string;
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly document: string;
}

/** The values of its key and columns, in their order. */
export function installationValues(row: InstallationRow & { readonly state: string }): (string | null)[] {
  return [row.id, ...COLUMNS.map(name => row[name])];
}

export function toInstallationRow(installation: Installation): InstallationRow {
  return {
    id: installation.id,
    organization_id: installation.organizationId ?? installation.organization?.id ?? null,
    app_id: readableText(installation.appId),
    permissions: JSON.stringify(installation.permissions),
    created_at: installation.createdAt,
    updated_at: installation.updatedAt,
    document: installation.document,
  };
}

import { type ResourceEntry, createNamedColumns } from './entry.js';

/** Certificates of retirements: one PDF for each retirement. They have no JSON document. */
export const CERTIFICATES: ResourceEntry = {
  table: 'certificates',
  scope: 'organization_id',
  key: createNamedColumns('retirement_id'),
  columns: createNamedColumns(
    'state',
    'file',
    'sha256',
    'size',
    'fetched_at',
    'checked_at',
    'due_at',
    'attempts',
    'error',
    'retirement_version',
  ),
  hasDocument: false,
  permission: 'organization_info',
  source: 'certificates',
};

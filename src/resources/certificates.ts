import { sortBy, type ResourceEntry, namedColumns, splitWords } from './entry.js';

/** One for each retirement. The registry sends a file. */
export const CERTIFICATES: ResourceEntry = {
  table: 'certificates',
  scope: 'organization_id',
  readInterval: 'round',
  key: namedColumns('retirement_id'),
  columns: namedColumns(
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
  display: {
    from: 'certificates',
    columns: splitWords(
      'state organization_name retirement_id size fetched_at due_at error organization_id file',
    ),
    order: sortBy('fetched_at desc', 'organization_id asc', 'retirement_id asc'),
  },
};

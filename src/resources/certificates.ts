import { by, type Entry, named, words } from './entry.js';

/** One for each retirement. The registry sends a file. */
export const CERTIFICATES: Entry = {
  table: 'certificates',
  scope: 'organization_id',
  every: 'round',
  key: named('retirement_id'),
  columns: named(
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
  shown: {
    from: 'certificates',
    columns: words('state organization_name retirement_id size fetched_at due_at error organization_id file'),
    order: by('fetched_at desc', 'organization_id asc', 'retirement_id asc'),
  },
};

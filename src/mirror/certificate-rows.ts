/** The columns that certificates and certificates_past share. */
export const CERTIFICATE_COLUMNS = [
  'version',
  'organization_id',
  'retirement_id',
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
  'valid_from',
  'sync_run_id',
] as const;

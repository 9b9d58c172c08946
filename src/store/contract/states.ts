/** Values of the state and reason columns of the mirror. */
export const INSTALLATION_STATES = ['active', 'suspended', 'uninstalled'] as const;
export type InstallationState = (typeof INSTALLATION_STATES)[number];

/** States of organizations in `coverage`: the state of the most active installation, or `never_read`. */
export const COVERAGE_STATES = [...INSTALLATION_STATES, 'never_read'] as const;

export const CERTIFICATE_STATES = ['pending', 'unavailable', 'stored'] as const;
export type CertificateState = (typeof CERTIFICATE_STATES)[number];

export type FreshnessState = 'fresh' | 'stale' | 'never_read' | 'no_access' | 'not_offered';
export type FreshnessReason =
  | 'unread_webhook'
  | 'overdue'
  | 'read_failed'
  | 'read_interrupted'
  | 'being_read'
  | 'removals_unconfirmed'
  | 'worker_gone'
  | 'clock_changed'
  | 'waiting'
  | 'suspended'
  | 'uninstalled'
  | 'no_permission';

export const SYNC_STATES = ['running', 'complete', 'partial', 'removals_unconfirmed', 'failed'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

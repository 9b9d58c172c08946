/** The closed sets of words that tables hold. */
export const INSTALLATION_STATES = ['active', 'suspended', 'uninstalled'] as const;
export type InstallationState = (typeof INSTALLATION_STATES)[number];

/** How an organization is known: as its liveliest installation is, or as one that nobody has looked at yet. */
export const COVERAGE_STATES = [...INSTALLATION_STATES, 'never_read'] as const;

export const CERTIFICATE_STATES = ['pending', 'unavailable', 'stored'] as const;
export type CertificateState = (typeof CERTIFICATE_STATES)[number];

export const FRESHNESS_STATES = [
  'suspended',
  'uninstalled',
  'forbidden',
  'not_offered',
  'never_read',
  'doubtful',
  'partial',
  'failing',
  'behind',
  'late',
  'current',
] as const;

export const SYNC_STATES = ['running', 'complete', 'partial', 'doubtful', 'failed'] as const;
export type SyncState = (typeof SYNC_STATES)[number];

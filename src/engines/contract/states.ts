/** The closed sets of words that tables hold. */
export const INSTALLATION_STATES = ['active', 'suspended', 'uninstalled'] as const;
export type InstallationState = (typeof INSTALLATION_STATES)[number];

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

export const RUN_STATES = ['running', 'complete', 'partial', 'doubtful', 'failed'] as const;
export type RunState = (typeof RUN_STATES)[number];

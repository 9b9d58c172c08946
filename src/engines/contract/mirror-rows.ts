import { versioned } from './columns.js';
import { CERTIFICATE_STATES, INSTALLATION_STATES } from './states.js';

/** The rows that mirror the registry. The meaning of each column stands beside it in migrations/mirror/. */
const AMOUNTS = {
  amount: 'real?',
  amount_micro: 'large?',
  amount_exact: 'text?',
  fault: 'text?',
} as const;

const PROJECT = { project_id: 'text?', project_name: 'text?' } as const;
const OWNED = { organization_id: 'text', id: 'text' } as const;
const DATED = { created_at: 'text?', updated_at: 'text?' } as const;

export const INSTALLATIONS = versioned({
  id: 'text',
  organization_id: 'text?',
  app_id: 'text?',
  state: INSTALLATION_STATES,
  permissions: 'text',
  ...DATED,
});

export const ORGANIZATIONS = versioned({
  id: 'text',
  full_name: 'text?',
  type: 'text?',
  country_code: 'text?',
  website: 'text?',
  is_public: 'integer?',
  ...DATED,
});

export const PROJECTS = versioned({
  id: 'text',
  num: 'text?',
  full_name: 'text?',
  short_description: 'text?',
  status: 'text?',
  registry: 'text?',
  country_code: 'text?',
  sector: 'text?',
  methodology: 'text?',
  type: 'text?',
  start_date: 'text?',
});

export const CREDITS = versioned({
  organization_id: 'text',
  credit_id: 'text',
  inventory_id: 'text',
  ...PROJECT,
  serialization: 'text?',
  vintage: 'text?',
  type: 'text?',
  token_id: 'text?',
  token_address: 'text?',
  unit: 'text?',
  ...AMOUNTS,
});

export const RESERVATIONS = versioned({
  ...OWNED,
  credit_id: 'text',
  serialization: 'text?',
  type: 'text?',
  ...AMOUNTS,
  ...PROJECT,
  reserver_id: 'text?',
  reserver_name: 'text?',
  state: 'text?',
  is_complete: 'integer?',
  reserved_to_at: 'text?',
  ...DATED,
});

export const INVENTORY_REQUESTS = versioned({
  ...OWNED,
  credit_id: 'text',
  action: 'text?',
  state: 'text?',
  type: 'text?',
  serialization: 'text?',
  vintage: 'text?',
  ...AMOUNTS,
  from_organization_id: 'text?',
  to_organization_id: 'text?',
  to_address: 'text?',
  ...PROJECT,
  tx_id: 'text?',
  retirement_reason: 'text?',
  beneficiary: 'text?',
  retirement_comment: 'text?',
  ...DATED,
});

export const RETIREMENTS = versioned({
  ...OWNED,
  ...PROJECT,
  serialization: 'text?',
  vintage: 'text?',
  ...AMOUNTS,
  reason: 'text?',
  beneficiary: 'text?',
  comment: 'text?',
  is_claimed: 'integer?',
  created_at: 'text?',
});

export const MEMBERS = versioned({ ...OWNED, full_name: 'text?', email: 'text?' });

export const ADDRESSES = versioned({ ...OWNED, address: 'text?', name: 'text?', is_default: 'integer?' });

const CERTIFICATE = {
  version: 'integer',
  organization_id: 'text',
  retirement_id: 'text',
  state: CERTIFICATE_STATES,
  file: 'text?',
  sha256: 'text?',
  size: 'integer?',
  fetched_at: 'text?',
  checked_at: 'text?',
  due_at: 'text',
  attempts: 'integer',
  error: 'text?',
  retirement_version: 'integer',
  valid_from: 'text',
} as const;

const BY_A_RUN = { sync_run_id: 'integer?', closed_by: 'integer?' } as const;

/** They have no document, and may have been entered by no run. */
export const CERTIFICATES = {
  now: { ...CERTIFICATE, sync_run_id: 'integer?' },
  past: { ...CERTIFICATE, valid_to: 'text', ...BY_A_RUN, closed_version: 'integer' },
  history: { ...CERTIFICATE, valid_to: 'text?', ...BY_A_RUN, closed_version: 'integer?' },
} as const;

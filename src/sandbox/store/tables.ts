/** What came later, made where it is missing: older files go on. */
export const ADDITIONS = `
-- Where an app lets people be sent after an installation.
create table if not exists callback_urls (
  app_id text not null references apps (id),
  place integer not null,
  url text not null,
  primary key (app_id, place)
) strict, without rowid;

-- What a queued transaction will do once it is carried out: JSON text.
create table if not exists queued_moves (
  transaction_id text primary key references transactions (id),
  move text not null
) strict;

-- What left the registry, for an address of nobody in it.
create table if not exists outside (
  address text not null,
  credit_id text not null references credits (id),
  amount_micro integer not null check (amount_micro > 0),
  primary key (address, credit_id)
) strict, without rowid;
`;

/**
 * The sandbox's own tables, in one file `sandbox.db`.
 *
 * Amounts are whole millionths of a tonne (`amount_micro`), so that sums are exact.
 * Instants are UTC text `YYYY-MM-DDTHH:MM:SS.sssZ`. Permissions and settings are JSON text.
 * `ordinal` counts 1, 2, 3 without gaps within its organization, and the organization holds the last
 * one used (`retirement_count` and its like): any page of a list is then a range of an index.
 */
export const SCHEMA_VERSION = 1;

export const SCHEMA = `
create table settings (
  name text primary key,
  value text not null
) strict;

create table apps (
  id text primary key,
  name text not null unique,
  name_id text not null unique,
  permissions text not null,
  webhook_url text,
  webhook_secret text,
  created_at text not null
) strict;

create table app_keys (
  fingerprint text not null,
  app_id text not null references apps (id),
  public_key text not null,
  created_at text not null,
  primary key (app_id, fingerprint)
) strict;

create table users (
  id text primary key,
  email text not null unique,
  full_name text not null,
  profile_picture text,
  created_at text not null
) strict;

create table organizations (
  id text primary key,
  full_name text not null unique,
  type text not null,
  country_code text,
  city text not null default '',
  zip text not null default '',
  physical_address text not null default '',
  registration_number text not null default '',
  website text not null default '',
  logo text,
  is_public integer not null default 1,
  warehouse_id text not null unique,
  created_by_app_id text references apps (id),
  claimed_at text,
  reservation_count integer not null default 0,
  request_count integer not null default 0,
  retirement_count integer not null default 0,
  created_at text not null,
  updated_at text not null
) strict;

create table members (
  organization_id text not null references organizations (id),
  user_id text not null references users (id),
  is_admin integer not null default 0,
  primary key (organization_id, user_id)
) strict, without rowid;

create table addresses (
  address text primary key,
  organization_id text not null references organizations (id),
  name text not null,
  is_default integer not null
) strict;
create index addresses_by_organization on addresses (organization_id);

create table projects (
  id text primary key,
  num text not null unique,
  full_name text not null,
  short_description text not null,
  description text not null,
  status text not null,
  is_public integer not null,
  proponent_id text references organizations (id),
  country_code text,
  state text,
  city text,
  start_date text,
  crediting_period_start_date text,
  details text not null default '{}',
  created_at text not null,
  updated_at text not null
) strict;
create index public_projects on projects (created_at, id) where is_public = 1;

create table credits (
  id text primary key,
  project_id text not null references projects (id),
  token_id text not null,
  token_address text not null,
  serialization text not null unique collate nocase,
  vintage text not null,
  type text not null check (type in ('exPost', 'exAnte')),
  issued_micro integer not null check (issued_micro >= 0),
  created_at text not null
) strict;

create table holdings (
  organization_id text not null references organizations (id),
  place text not null check (place in ('warehouse', 'inventory')),
  credit_id text not null references credits (id),
  amount_micro integer not null check (amount_micro > 0),
  primary key (organization_id, place, credit_id)
) strict, without rowid;

create table reservations (
  id text primary key,
  organization_id text not null references organizations (id),
  ordinal integer not null,
  app_id text not null references apps (id),
  credit_id text not null references credits (id),
  amount_micro integer not null check (amount_micro > 0),
  state text not null check (state in ('outstanding', 'finished', 'cancelled', 'expired')),
  action text,
  created_at text not null,
  updated_at text not null,
  reserved_to_at text not null,
  unique (organization_id, ordinal)
) strict;
create index outstanding_reservations on reservations (reserved_to_at) where state = 'outstanding';

create table inventory_requests (
  id text primary key,
  organization_id text not null references organizations (id),
  ordinal integer not null,
  app_id text not null references apps (id),
  credit_id text not null references credits (id),
  action text not null check (action in ('transfer', 'retire', 'transfer_retire')),
  amount_micro integer not null check (amount_micro > 0),
  to_organization_id text,
  to_address text,
  reason text,
  beneficiary text,
  comment text,
  state text not null check (state in ('Pending', 'Accepted', 'Rejected')),
  tx_id text,
  created_at text not null,
  updated_at text not null,
  unique (organization_id, ordinal)
) strict;

-- project_name is the name that the certificate shows: the project's at the time of the retirement.
create table retirements (
  id text primary key,
  organization_id text not null references organizations (id),
  ordinal integer not null,
  app_id text references apps (id),
  credit_id text not null references credits (id),
  amount_micro integer not null check (amount_micro > 0),
  is_claimed integer not null,
  beneficiary text,
  reason text,
  comment text,
  project_name text not null,
  created_at text not null,
  unique (organization_id, ordinal)
) strict;

create table transactions (
  id text primary key,
  event text not null check (event in ('warehouseTransaction', 'organizationTransaction')),
  type text not null check (type in ('transfer', 'retire', 'transfer_retire')),
  status text not null check (status in ('processed', 'failed', 'pending_queue')),
  organization_id text not null references organizations (id),
  app_id text references apps (id),
  receiver_id text references organizations (id),
  reservation_id text references reservations (id),
  request_id text references inventory_requests (id),
  retirement_id text references retirements (id),
  credit_id text not null references credits (id),
  amount_micro integer not null,
  comment text,
  created_at text not null,
  updated_at text not null
) strict;

create table installations (
  id text primary key,
  app_id text not null references apps (id),
  organization_id text not null references organizations (id),
  permissions text not null,
  state text not null check (state in ('active', 'suspended', 'uninstalled')),
  created_at text not null,
  updated_at text not null
) strict;
create unique index live_installations on installations (app_id, organization_id) where state <> 'uninstalled';
create index installations_by_organization on installations (organization_id);

create table tokens (
  id text primary key,
  digest text not null unique,
  app_id text not null references apps (id),
  installation_id text references installations (id),
  organization_id text references organizations (id),
  permissions text not null,
  created_at text not null,
  expires_at text not null,
  revoked_at text
) strict;

create table deliveries (
  id integer primary key,
  app_id text not null references apps (id),
  installation_id text not null references installations (id),
  event text not null,
  url text not null,
  body text not null,
  signature text,
  state text not null check (state in ('held', 'pending', 'delivered', 'failed', 'dropped')),
  attempts_left integer not null,
  copy_of integer references deliveries (id),
  due_at text not null,
  created_at text not null
) strict;
create index waiting_deliveries on deliveries (due_at) where state = 'pending';

create table delivery_attempts (
  delivery_id integer not null references deliveries (id),
  attempt integer not null,
  started_at text not null,
  status integer,
  error text,
  primary key (delivery_id, attempt)
) strict, without rowid;

create table calls (
  id integer primary key,
  at text not null,
  method text not null,
  path text not null,
  app_id text,
  installation_id text,
  token_id text,
  version text,
  status integer not null
) strict;
create index calls_by_app on calls (app_id, installation_id);

create table faults (
  id integer primary key,
  method text not null,
  path text not null,
  kind text not null,
  options text not null,
  remaining integer,
  hits integer not null default 0
) strict;
`;

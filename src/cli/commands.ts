import { API } from './commands/api/api.js';
import { AS_OF } from './commands/as-of.js';
import { AVAILABLE } from './commands/available.js';
import { BALANCE } from './commands/balance.js';
import { CERTIFICATES } from './commands/certificates/certificates.js';
import { CHANGES } from './commands/changes/changes.js';
import type { AnyCommand } from './define.js';
import { CONSOLE } from './commands/console.js';
import { DELIVERIES } from './commands/deliveries/deliveries.js';
import { DEMO } from './commands/demo/env.js';
import { DOCTOR } from './commands/doctor/doctor.js';
import { EXPLAIN } from './commands/explain.js';
import { FORGET } from './commands/forget.js';
import { FRIENDBOT, WRITES } from './commands/writes/writes.js';
import { HISTORY } from './commands/history.js';
import { INSTALL_URL } from './commands/install-url.js';
import { JOBS } from './commands/jobs.js';
import { MIGRATE } from './commands/migrate.js';
import { PURGE } from './commands/purge.js';
import { QUERY } from './commands/query.js';
import { RUNS } from './commands/runs.js';
import { SANDBOX } from './commands/sandbox/sandbox.js';
import { SCHEMA } from './commands/schema.js';
import { SNAPSHOT } from './commands/snapshot.js';
import { STATUS } from './commands/status.js';
import { SYNC } from './commands/sync/sync.js';
import { TRIGGER } from './commands/trigger/trigger.js';
import { RECEIVE, UP, WORK } from './commands/services.js';
import { VERIFY } from './commands/verify/verify.js';
import { listCommands } from './lists/lists.js';

/** Every command, in the order of the help, and the module that holds it. What one loads to do its work it imports then. */
export const COMMANDS: Readonly<Record<string, AnyCommand>> = {
  up: UP,
  demo: DEMO,
  receive: RECEIVE,
  work: WORK,
  sync: SYNC,
  status: STATUS,
  available: AVAILABLE,
  query: QUERY,
  console: CONSOLE,
  doctor: DOCTOR,
  ...listCommands(WRITES),
  'as-of': AS_OF,
  history: HISTORY,
  runs: RUNS,
  changes: CHANGES,
  explain: EXPLAIN,
  balance: BALANCE,
  certificates: CERTIFICATES,
  deliveries: DELIVERIES,
  jobs: JOBS,
  snapshot: SNAPSHOT,
  schema: SCHEMA,
  migrate: MIGRATE,
  verify: VERIFY,
  purge: PURGE,
  forget: FORGET,
  trigger: TRIGGER,
  'install-url': INSTALL_URL,
  api: API,
  friendbot: FRIENDBOT,
  sandbox: SANDBOX,
};

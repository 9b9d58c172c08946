import * as api from './commands/api/api.js';
import * as asOf from './commands/as-of.js';
import * as available from './commands/available.js';
import * as balance from './commands/balance/balance.js';
import * as certificates from './commands/certificates/certificates.js';
import { CHANGES } from './commands/changes/changes.js';
import type { AnyCommand } from './define.js';
import * as browser from './commands/console.js';
import * as deliveries from './commands/deliveries/deliveries.js';
import * as demoEnv from './commands/demo/env.js';
import { DOCTOR } from './commands/doctor/doctor.js';
import { EXPLAIN } from './commands/explain/explain.js';
import * as forget from './commands/forget.js';
import { FRIENDBOT } from './commands/writes/friendbot.js';
import { HISTORY } from './commands/history.js';
import * as installUrl from './commands/install-url.js';
import { JOBS } from './commands/jobs.js';
import * as migrate from './commands/migrate.js';
import { PURGE } from './commands/purge.js';
import * as query from './commands/query.js';
import * as receive from './commands/receive.js';
import { RUNS } from './commands/runs.js';
import * as sandbox from './commands/sandbox/sandbox.js';
import * as schema from './commands/schema.js';
import * as snapshot from './commands/snapshot.js';
import * as status from './commands/status.js';
import * as sync from './commands/sync/sync.js';
import * as trigger from './commands/trigger/trigger.js';
import * as up from './commands/up.js';
import * as verify from './commands/verify/verify.js';
import * as work from './commands/work.js';
import { SHOWN } from './shown/shown.js';

/** Every command, in the order of the help, and the module that holds it. What one loads to do its work it imports then. */
export const COMMANDS: Readonly<Record<string, AnyCommand>> = {
  up,
  demo: demoEnv,
  receive,
  work,
  sync,
  status,
  available,
  query,
  console: browser,
  doctor: DOCTOR,
  ...SHOWN,
  'as-of': asOf,
  history: HISTORY,
  runs: RUNS,
  changes: CHANGES,
  explain: EXPLAIN,
  balance,
  certificates,
  deliveries,
  jobs: JOBS,
  snapshot,
  schema,
  migrate,
  verify,
  purge: PURGE,
  forget,
  trigger,
  'install-url': installUrl,
  api,
  friendbot: FRIENDBOT,
  sandbox,
};

import * as api from './api.js';
import * as asOf from './as-of.js';
import * as available from './available.js';
import * as certificates from './certificates.js';
import type { CommandModule } from './command.js';
import * as deliveries from './deliveries.js';
import * as demoEnv from './demo-env.js';
import * as doctor from './doctor.js';
import * as forget from './forget.js';
import * as friendbot from './friendbot.js';
import * as history from './history.js';
import * as installations from './installations.js';
import * as inventoryRequests from './inventory-requests.js';
import * as inventory from './inventory.js';
import * as jobs from './jobs.js';
import * as migrate from './migrate.js';
import * as organizations from './organizations.js';
import * as projects from './projects.js';
import * as purge from './purge.js';
import * as query from './query.js';
import * as receive from './receive.js';
import * as reservations from './reservations.js';
import * as retirements from './retirements.js';
import * as sandbox from './sandbox/sandbox.js';
import * as schema from './schema.js';
import * as snapshot from './snapshot.js';
import * as status from './status.js';
import * as sync from './sync.js';
import * as trigger from './trigger.js';
import * as up from './up.js';
import * as verify from './verify.js';
import * as warehouse from './warehouse.js';
import * as work from './work.js';

/** Every command, in the order of the help, and the module that holds it. What one loads to do its work it imports then. */
export const COMMANDS: Readonly<Record<string, CommandModule>> = {
  up,
  demo: demoEnv,
  receive,
  work,
  sync,
  status,
  available,
  query,
  doctor,
  installations,
  organizations,
  warehouse,
  inventory,
  retirements,
  projects,
  reservations,
  'inventory-requests': inventoryRequests,
  'as-of': asOf,
  history,
  certificates,
  deliveries,
  jobs,
  snapshot,
  schema,
  migrate,
  verify,
  purge,
  forget,
  trigger,
  api,
  friendbot,
  sandbox,
};

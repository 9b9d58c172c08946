import { AS_OF } from './commands/as-of.js';
import { AVAILABLE } from './commands/available.js';
import { BALANCE } from './commands/balance.js';
import { EXPORT } from './commands/certificates.js';
import { CHANGES } from './commands/changes.js';
import type { Command } from './command.js';
import { CONSOLE } from './commands/console.js';
import { DELIVERIES } from './commands/deliveries.js';
import { DOCTOR } from './commands/doctor/doctor.js';
import { EVIDENCE } from './commands/evidence/evidence.js';
import { FORGET } from './commands/forget.js';
import { RESERVATIONS } from './commands/reservations/reservations.js';
import { INSTALL_URL } from './commands/install-url.js';
import { JOBS } from './commands/jobs.js';
import { BACKUP, MOVE, RESTORE } from './commands/keeping.js';
import { MIGRATE } from './commands/migrate.js';
import { PURGE } from './commands/purge.js';
import { QUERY } from './commands/query.js';
import { SANDBOX } from './commands/sandbox/sandbox.js';
import { SCHEMA } from './commands/schema.js';
import { SNAPSHOT } from './commands/snapshot.js';
import { STATUS } from './commands/status.js';
import { SYNC } from './commands/sync/sync.js';
import { TRIGGER } from './commands/trigger.js';
import { RECEIVE, UP, WORK } from './commands/services.js';
import { VERIFY } from './commands/verify/verify.js';
import { listCommands } from './lists/lists.js';

/** What a list has beside `list` and `show`, or instead of them. */
const LISTS = listCommands({
  reservations: RESERVATIONS,
  certificates: { export: EXPORT },
  deliveries: DELIVERIES,
  jobs: JOBS,
});
const lists = (...names: readonly string[]) =>
  Object.fromEntries(Object.entries(LISTS).filter(([name]) => names.includes(name)));
const APART = ['certificates', 'deliveries', 'jobs', 'syncs', 'reservations'];

/** Every command by what a person does with it, in the order of the help. What one loads to do its work it imports then. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  Look: {
    status: STATUS,
    available: AVAILABLE,
    query: QUERY,
    console: CONSOLE,
    ...lists(...Object.keys(LISTS).filter(name => !APART.includes(name))),
    schema: SCHEMA,
  },
  Prove: {
    'as-of': AS_OF,
    changes: CHANGES,
    balance: BALANCE,
    ...lists('certificates'),
    verify: VERIFY,
    evidence: EVIDENCE,
    snapshot: SNAPSHOT,
  },
  Webhooks: { ...lists('deliveries', 'jobs'), trigger: TRIGGER },
  Act: { ...lists('reservations'), 'install-url': INSTALL_URL },
  Run: { up: UP, receive: RECEIVE, work: WORK, sync: SYNC, ...lists('syncs'), migrate: MIGRATE },
  Repair: { doctor: DOCTOR, backup: BACKUP, restore: RESTORE, move: MOVE, purge: PURGE, forget: FORGET },
  Sandbox: { sandbox: SANDBOX },
};

export const COMMANDS: (typeof GROUPS)[string] = Object.fromEntries(
  Object.values(GROUPS).flatMap(Object.entries),
);

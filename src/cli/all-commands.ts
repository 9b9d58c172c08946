import { API } from './commands/api.js';
import { AS_OF } from './commands/as-of.js';
import { AVAILABLE } from './commands/available.js';
import { BALANCE } from './commands/balance.js';
import { EXPORT, GET } from './commands/certificates.js';
import { CHANGES } from './commands/changes.js';
import type { Command } from './define-command.js';
import { CONSOLE } from './commands/console.js';
import { DELIVERIES } from './commands/deliveries/deliveries.js';
import { DOCTOR } from './commands/doctor/doctor.js';
import { EVIDENCE } from './commands/evidence/evidence.js';
import { FORGET } from './commands/forget.js';
import { RESERVATIONS } from './commands/reservations/reservations.js';
import { INSTALL_URL } from './commands/install-url.js';
import { JOBS } from './commands/jobs.js';
import { COMPARE } from './commands/compare.js';
import { BACKUP } from './commands/backup/backup.js';
import { MOVE } from './commands/backup/move.js';
import { RESTORE } from './commands/backup/restore.js';
import { MIGRATE } from './commands/migrate.js';
import { PURGE } from './commands/purge.js';
import { QUERY } from './commands/query.js';
import { SANDBOX } from './commands/sandbox/sandbox.js';
import { SCHEMA } from './commands/schema.js';
import { SNAPSHOT } from './commands/snapshot.js';
import { STATUS } from './commands/status.js';
import { SYNC } from './commands/sync/sync.js';
import { SUBSCRIPTIONS } from './commands/subscriptions/subscriptions.js';
import { TOKENS } from './commands/tokens.js';
import { TRIGGER } from './commands/trigger.js';
import { RECEIVE, UP, WORK } from './commands/services.js';
import { VERIFY } from './commands/verify/verify.js';
import { RETIREMENTS } from '../query/lists/list-definitions.js';
import { createListGroups } from './lists/list-groups.js';
import { createTotalsCommand } from './lists/totals-command.js';

/** The command group of each list. It has the subcommands `list`, `show`, and those named here. */
const LIST_GROUPS = createListGroups({
  reservations: RESERVATIONS,
  retirements: { totals: createTotalsCommand(RETIREMENTS) },
  certificates: { export: EXPORT, get: GET },
  deliveries: DELIVERIES,
  jobs: JOBS,
});
/** Returns the groups of the named lists. */
const pickListGroups = (...names: readonly string[]) =>
  Object.fromEntries(Object.entries(LIST_GROUPS).filter(([name]) => names.includes(name)));
/** Lists that the help shows under another heading than "Read data". */
const GROUPED_ELSEWHERE = [
  'certificates',
  'restatements',
  'deliveries',
  'jobs',
  'syncs',
  'reservations',
  'orders',
];

/**
 * All commands by the heading under which the help shows them, in its order.
 * Commands import large modules only when they run, so that other commands start quickly.
 */
export const COMMAND_GROUPS: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  'Read data': {
    status: STATUS,
    available: AVAILABLE,
    query: QUERY,
    console: CONSOLE,
    ...pickListGroups(...Object.keys(LIST_GROUPS).filter(name => !GROUPED_ELSEWHERE.includes(name))),
    schema: SCHEMA,
  },
  'Audit and prove': {
    'as-of': AS_OF,
    compare: COMPARE,
    changes: CHANGES,
    balance: BALANCE,
    ...pickListGroups('restatements', 'certificates'),
    verify: VERIFY,
    evidence: EVIDENCE,
    snapshot: SNAPSHOT,
  },
  Webhooks: { ...pickListGroups('deliveries', 'jobs'), trigger: TRIGGER },
  'Write to the registry': { ...pickListGroups('reservations', 'orders'), 'install-url': INSTALL_URL },
  Operate: { up: UP, receive: RECEIVE, work: WORK, sync: SYNC, ...pickListGroups('syncs'), migrate: MIGRATE },
  Maintain: { doctor: DOCTOR, backup: BACKUP, restore: RESTORE, move: MOVE, purge: PURGE, forget: FORGET },
  Events: { subscriptions: SUBSCRIPTIONS },
  'HTTP API': { api: API, tokens: TOKENS },
  Sandbox: { sandbox: SANDBOX },
};

/** All commands by name. */
export const COMMANDS: (typeof COMMAND_GROUPS)[string] = Object.fromEntries(
  Object.values(COMMAND_GROUPS).flatMap(Object.entries),
);

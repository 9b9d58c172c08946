import {
  PROCESS_RETENTION_MS,
  HEARTBEAT_INTERVAL_MS,
  type ProcessIdentity,
  type ProcessRole,
  type InboxPulse,
} from '../../inbox/process.js';
import { type Part, PARTS } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import { statement } from '../statement.js';
import { type AtTime, type InboxDatabase, NOW } from './database.js';

type Beat = AtTime & { id: number; role: ProcessRole; host: string; pid: number; startedAt: string };
type Numbered = { readonly id: number };

const ITSELF = 'id = @id AND role = @role AND host = @host AND pid = @pid AND started_at = @startedAt';
const TOUCH = statement<Beat, Numbered>(
  dialect => `UPDATE inbox.processes SET seen_at = ${NOW(dialect)} WHERE ${ITSELF} RETURNING id`,
);
const ENTER = statement<Beat, Numbered>(dialect => {
  const { as } = dialect;
  const beat = [as('text', '@role'), as('text', '@host'), as('int', '@pid'), as('instant', '@startedAt')];
  return `INSERT INTO inbox.processes (role, host, pid, started_at, seen_at)
    SELECT ${beat.join(', ')}, ${NOW(dialect)}
    WHERE NOT EXISTS (SELECT 1 FROM inbox.processes WHERE ${ITSELF}) RETURNING id`;
});
const REMOVE = statement<AtTime>(
  dialect =>
    `DELETE FROM inbox.processes WHERE id IN (
       SELECT id FROM inbox.processes AS p WHERE seen_at < ${dialect.later(NOW(dialect), `-${PROCESS_RETENTION_MS}`)}
         AND EXISTS (SELECT 1 FROM inbox.processes AS later WHERE later.role = p.role
           AND (later.seen_at, later.id) > (p.seen_at, p.id))
       ${dialect.forUpdateOfFree('p')})`,
);

interface Seen {
  readonly at: string;
  readonly claims: number;
  readonly receive: string | null;
  readonly work: string | null;
  readonly dueAt: string | null;
}

const PULSE = statement<AtTime, Seen>(dialect => {
  const soon = dialect.later(NOW(dialect), String(HEARTBEAT_INTERVAL_MS));
  const due = (part: Part) =>
    `SELECT min(run_at) AS at FROM inbox.jobs WHERE state = 'waiting' AND part = '${part}' AND run_at <= ${NOW(dialect)}`;
  const seen = (role: ProcessRole) =>
    `(SELECT max(seen_at) FROM inbox.processes WHERE role = '${role}' AND seen_at <= ${soon}) AS ${role}`;
  return `SELECT ${NOW(dialect)} AS at, (SELECT last FROM inbox.claims) AS claims, ${seen('receive')}, ${seen('work')},
    (SELECT min(at) FROM (${PARTS.map(due).join(' UNION ALL ')}) AS due) AS "dueAt"`;
});

/** One row a process: entered with its first heartbeat, then touched; entered anew where an older inbox was put back. */
export function createHeartbeats({
  look,
  commit,
  now,
}: InboxDatabase): Pick<InboxPort, 'heartbeat' | 'readPulse'> {
  let id = 0;
  return {
    heartbeat: async ({ startedAt, role, host, pid }: ProcessIdentity) => {
      const at = { now: now() };
      const beat = { ...at, id, role, host, pid, startedAt: formatInstant(startedAt) };
      const [touched, entered, , [seen]] = await commit(TOUCH(beat), ENTER(beat), REMOVE(at), PULSE(at));
      id = [...touched, ...entered][0]?.id ?? 0;
      return pulseOf(seen);
    },
    readPulse: async () => pulseOf((await look(PULSE({ now: now() })))[0][0]),
  };
}

function pulseOf(seen: Seen | undefined): InboxPulse {
  if (seen === undefined) throw new Error('expected the pulse of an inbox, got none');
  const { at, claims, receive, work, dueAt } = seen;
  return {
    at: Date.parse(at),
    workerEverSeen: claims > 0 || work !== null,
    seenAt: {
      ...(receive !== null && { receive: Date.parse(receive) }),
      ...(work !== null && { work: Date.parse(work) }),
    },
    oldestDueAt: dueAt === null ? null : Date.parse(dueAt),
  };
}

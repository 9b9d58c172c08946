import {
  GONE_AFTER_MS,
  type LivingProcess,
  type ProcessRole,
  type Pulse,
  HEARTBEAT_EVERY_MS,
} from '../../../inbox/process.js';
import { AT, epochMs, ms, type Perform } from './perform.js';

interface Answer {
  readonly process?: number;
  readonly pulse_at: number;
  readonly worked: boolean;
  readonly seen_at: Readonly<Partial<Record<ProcessRole, number>>>;
  readonly oldest_due_at: number | null;
}

/** One row a process: entered with its first heartbeat, then touched; entered anew where an older inbox was put back. */
export function createHeartbeat({ perform }: Perform): (self: LivingProcess) => Promise<Pulse> {
  let id = 0;
  return async ({ startedAt, ...self }) => {
    const beat = { ...self, id, started_at: new Date(startedAt).toISOString() };
    const answer = await perform<Answer>([BEAT, REMOVE, PULSE], { beat });
    id = answer.process ?? 0;
    return pulseOf(answer);
  };
}

export function createPulse({ perform }: Perform): () => Promise<Pulse> {
  return async () => pulseOf(await perform<Answer>([PULSE]));
}

function pulseOf(answer: Answer): Pulse {
  return {
    at: answer.pulse_at,
    workerEverSeen: answer.worked || 'work' in answer.seen_at,
    seenAt: answer.seen_at,
    oldestDueAt: answer.oldest_due_at,
  };
}

const BEAT = `
  WITH beat AS (
    SELECT * FROM jsonb_to_record($1 -> 'beat')
      AS beat (id bigint, role text, host text, pid bigint, started_at timestamptz(3))
  ),
  touched AS (
    UPDATE inbox.processes AS p SET seen_at = ${AT} FROM beat
    WHERE (p.id, p.role, p.host, p.pid, p.started_at) = (beat.id, beat.role, beat.host, beat.pid, beat.started_at)
    RETURNING p.id
  ),
  entered AS (
    INSERT INTO inbox.processes (role, host, pid, started_at, seen_at)
    SELECT role, host, pid, started_at, ${AT} FROM beat WHERE NOT EXISTS (SELECT FROM touched)
    RETURNING id
  )
  SELECT jsonb_build_object('process', id) FROM (SELECT * FROM touched UNION ALL SELECT * FROM entered) AS found`;

const REMOVE = `
  DELETE FROM inbox.processes WHERE id IN (
    SELECT id FROM inbox.processes WHERE seen_at < ${AT} - ${ms(String(GONE_AFTER_MS))} AND id NOT IN (
      SELECT DISTINCT ON (role) last.id FROM inbox.processes AS last ORDER BY role, seen_at DESC)
    FOR UPDATE SKIP LOCKED)
  RETURNING '{}'::jsonb`;

const PULSE = `
  SELECT jsonb_build_object(
    'pulse_at', ${epochMs(AT)},
    'worked', (SELECT last > 0 FROM inbox.claims),
    'seen_at', (SELECT coalesce(jsonb_object_agg(role, at), '{}') FROM (
      SELECT role, ${epochMs('max(seen_at)')} AS at FROM inbox.processes
      WHERE seen_at <= ${AT} + ${ms(String(HEARTBEAT_EVERY_MS))} GROUP BY role) AS seen),
    'oldest_due_at', (SELECT ${epochMs('min(run_at)')} FROM inbox.jobs WHERE state = 'waiting' AND run_at <= ${AT}))`;

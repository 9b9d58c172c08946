import type { Store } from '../store/store.js';
import { readBody } from '../http/validate.js';

/** What happens to deliveries on their way. All off: each is sent once, at once, in order. */
export interface Behaviour {
  /** Loses the next so many. */
  readonly drop: number;
  /** Sends send this many more copies of each. */
  readonly duplicate: number;
  readonly delayMs: number;
  /** Keeps each until it is released by hand. */
  readonly hold: boolean;
  /** Keeps so many, then sends them in reverse. 0 and 1 keep the order. */
  readonly reorder: number;
  readonly attempts: number;
  /** Before the second attempt; doubled before each further one. */
  readonly backoffMs: number;
  readonly timeoutMs: number;
}

const KIND: Behaviour = {
  drop: 0,
  duplicate: 0,
  delayMs: 0,
  hold: false,
  reorder: 0,
  attempts: 1,
  backoffMs: 1000,
  timeoutMs: 10_000,
};

/** The last of 20 doubled hours is still an instant that can be written down. */
const MOST = {
  deliveries: 100_000,
  copies: 100,
  delayMs: 86_400_000,
  attempts: 20,
  backoffMs: 3_600_000,
  timeoutMs: 600_000,
} as const;

export function createBehaviour({ tables, verb }: Store) {
  const read = (): Behaviour => ({ ...KIND, ...Object(tables.settings.get('webhooks')?.value) });
  const write = verb('behave', (value: Behaviour) => tables.settings.put({ name: 'webhooks', value }));

  /** What is absent stays as it is. */
  function change(body: unknown): Behaviour {
    const old = read();
    const next = readBody(body, fields => ({
      drop: fields.count('drop', old.drop, MOST.deliveries),
      duplicate: fields.count('duplicate', old.duplicate, MOST.copies),
      delayMs: fields.count('delayMs', old.delayMs, MOST.delayMs),
      hold: fields.flag('hold', old.hold),
      reorder: fields.count('reorder', old.reorder, MOST.deliveries),
      attempts: fields.count('attempts', old.attempts, MOST.attempts),
      backoffMs: fields.count('backoffMs', old.backoffMs, MOST.backoffMs),
      timeoutMs: fields.count('timeoutMs', old.timeoutMs, MOST.timeoutMs),
    }));
    write(next);
    return next;
  }

  return { read, write, change };
}

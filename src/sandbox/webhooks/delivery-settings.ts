import type { SandboxStore } from '../store/store.js';
import { readBody } from '../http/request-body.js';

/** How webhooks are delivered, and with which faults. By default each is sent once, without delay and in order. */
export interface DeliverySettings {
  /** How many of the next deliveries are lost. */
  readonly drop: number;
  /** How many additional copies of each delivery are sent. */
  readonly duplicate: number;
  readonly delayMs: number;
  /** Whether each delivery is held until the control API releases it. */
  readonly hold: boolean;
  /** Deliveries are held until there are this many, and are then sent in reverse order. 0 and 1 keep the order. */
  readonly reorder: number;
  /** The maximum number of attempts to send a delivery. */
  readonly attempts: number;
  /** The wait before the second attempt. It doubles before each further attempt. */
  readonly backoffMs: number;
  readonly timeoutMs: number;
}

const DEFAULTS: DeliverySettings = {
  drop: 0,
  duplicate: 0,
  delayMs: 0,
  hold: false,
  reorder: 0,
  attempts: 1,
  backoffMs: 1000,
  timeoutMs: 10_000,
};

/** The largest values of the settings. With them, the last of 20 doubled waits still ends at a valid date. */
const LIMITS = {
  deliveries: 100_000,
  copies: 100,
  delayMs: 86_400_000,
  attempts: 20,
  backoffMs: 3_600_000,
  timeoutMs: 600_000,
} as const;

/** Creates the functions that read and change the stored delivery settings. */
export function createDeliverySettings({ tables, defineOperation }: SandboxStore) {
  const read = (): DeliverySettings => ({ ...DEFAULTS, ...Object(tables.settings.get('webhooks')?.value) });
  const write = defineOperation('behave', (value: DeliverySettings) =>
    tables.settings.put({ name: 'webhooks', value }),
  );

  /** Changes the delivery settings that a request body names, and returns all settings. */
  function changeSettings(body: unknown): DeliverySettings {
    const old = read();
    const next = readBody(body, fields => ({
      drop: fields.wholeNumber('drop', old.drop, LIMITS.deliveries),
      duplicate: fields.wholeNumber('duplicate', old.duplicate, LIMITS.copies),
      delayMs: fields.wholeNumber('delayMs', old.delayMs, LIMITS.delayMs),
      hold: fields.boolean('hold', old.hold),
      reorder: fields.wholeNumber('reorder', old.reorder, LIMITS.deliveries),
      attempts: fields.wholeNumber('attempts', old.attempts, LIMITS.attempts),
      backoffMs: fields.wholeNumber('backoffMs', old.backoffMs, LIMITS.backoffMs),
      timeoutMs: fields.wholeNumber('timeoutMs', old.timeoutMs, LIMITS.timeoutMs),
    }));
    write(next);
    return next;
  }

  return { read, write, changeSettings };
}

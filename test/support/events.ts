import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createChangeLog } from '../../src/app/events/change-log.js';
import { openEventPost } from '../../src/app/events/event-post.js';
import { readStoreSettings } from '../../src/app/config/read-settings.js';
import { createEpochName } from '../../src/events/epoch-name.js';
import type { EventsPort, NewSubscription } from '../../src/events/port.js';
import { createSender } from '../../src/events/send/sender.js';
import type { SenderContext } from '../../src/events/send/sender-types.js';
import { SELECTABLE_TYPES } from '../../src/events/catalogue/catalogue.js';
import { deriveKeyCheck, deriveSecret } from '../../src/events/signing.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { openEngine } from '../../src/store/open-engine.js';
import { startEventReceiver } from './event-receiver.js';

export const EVENTS_KEY = Buffer.alloc(32, 7);

interface MirrorUnderTest {
  readonly env: Record<string, string>;
  readonly reader: Reader;
  readonly clock: { at: number };
}

/** Opens the subscriptions of a mirror, with a sender and a subscriber. The sender uses the clock of the mirror. */
export async function openEvents({ env, reader, clock }: MirrorUnderTest) {
  const engine = openEngine(readStoreSettings(env));
  await engine.prepare(['events'], clock.at, () => undefined);
  const openPort = async (): Promise<EventsPort> => {
    const opened = await engine.openEvents(() => clock.at);
    if (opened === null) throw new Error('expected subscriptions, got none');
    onTestFinished(() => opened.close());
    return opened;
  };
  const port = await openPort();
  const errors: object[] = [];
  const log = {
    info: () => undefined,
    warn: (fields: object) => void errors.push(fields),
    error: (fields: object) => void errors.push(fields),
  };
  const context: SenderContext = {
    port,
    changes: createChangeLog(reader),
    openPost: () => openEventPost(['loopback']),
    key: EVENTS_KEY,
    now: () => clock.at,
    randomBytes,
    log,
  };
  const sender = createSender(context);
  onTestFinished(() => sender.stop());
  const receiver = await startEventReceiver();

  /** Subscribes to all events from the beginning, unless something else is given. */
  const subscribe = async (
    overrides: Partial<NewSubscription> & { readonly types?: readonly string[] } = {},
  ) => {
    const { types = SELECTABLE_TYPES, ...columns } = overrides;
    const at = new Date(clock.at).toISOString();
    const first = { epoch: createEpochName(randomBytes), at, reason: 'created', newestChange: 0 } as const;
    const { epoch } = await port.ensureEpoch(first);
    const id = columns.id ?? `sub_${randomBytes(4).toString('hex')}`;
    await port.add({
      id,
      url: receiver.url,
      events: JSON.stringify(types),
      created_at: at,
      key_check: deriveKeyCheck(EVENTS_KEY, id),
      epoch,
      change_cursor: 0,
      occurrence_cursor: 0,
      ...columns,
    });
    return { id, secret: deriveSecret(EVENTS_KEY, id, 1), epoch };
  };

  return {
    engine,
    port,
    openPort,
    context,
    sender,
    receiver,
    errors,
    subscribe,
    /** Sends what is due, once. */
    send: async () => {
      await sender.poll();
      await sender.drain();
    },
    find: async (id: string) => {
      const found = (await port.list()).find(subscription => subscription.id === id);
      if (found === undefined) throw new Error(`expected the subscription ${id}`);
      return found;
    },
  };
}

/** The thread of the worker that sends events. */
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import type { EventsPort } from '../../events/port.js';
import { existsEventsKey, readEventsKey } from '../../events/key-file.js';
import { createSender, type Sender } from '../../events/send/sender.js';
import type { SenderLog } from '../../events/send/sender-types.js';
import type { Engine } from '../../store/engine.js';
import { openEngine } from '../../store/open-engine.js';
import { serveThread } from '../../thread.js';
import { createChangeLog } from './change-log.js';
import { openEventPost } from './event-post.js';
import { evaluate } from './evaluate.js';
import type { EventThreadApi, EventThreadData, LogNotice } from './sending.js';

const PRUNE_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Opens the databases in the event thread. Returns the functions that the main thread calls: `poll` sends the events that are due,
 * `evaluate` records events about stale lists and failed jobs, and `close` stops sending and closes the databases.
 */
async function openEventApi(
  { store, keyFile, retentionDays, outboundAllow }: EventThreadData,
  notify: (notice: LogNotice) => void,
): Promise<EventThreadApi> {
  const engine = openEngine(store);
  let clockOffset = 0;
  const now = () => clockOffset + performance.now();
  const port = await openEventsPort(engine, now);
  const reader = await engine.openReader();
  const log: SenderLog = {
    info: (fields, message) => notify({ level: 'info', fields, message }),
    warn: (fields, message) => notify({ level: 'warn', fields, message }),
    error: (fields, message) => notify({ level: 'error', fields, message }),
  };
  const changes = createChangeLog(reader);
  const openPost = () => openEventPost(outboundAllow);
  let sender: Sender | null = null;
  let prunedAt = 0;

  /** Returns the sender of events, and creates it once the file with the signing key exists. Returns null until then. */
  function getOrCreateSender(): Sender | null {
    if (sender !== null || !existsEventsKey(keyFile)) return sender;
    const key = readEventsKey(keyFile);
    sender = createSender({ port: port, changes, openPost, key, now, randomBytes, log });
    return sender;
  }

  /**
   * Deletes events that are older than the retention time. Does nothing if events are kept forever or the last deletion was
   * recent.
   */
  async function pruneOldEvents(): Promise<void> {
    if (retentionDays === 0 || now() - prunedAt < PRUNE_INTERVAL_MS) return;
    prunedAt = now();
    await port.prune(new Date(now() - retentionDays * DAY_MS).toISOString());
  }

  return {
    poll: async at => {
      clockOffset = at - performance.now();
      await getOrCreateSender()?.poll();
    },
    evaluate: async at => {
      const subscriptions = await port.list();
      const holds = await port.listHolds();
      const isUsed = subscriptions.some(({ state }) => state === 'active');
      if (isUsed) await evaluate({ port, reader, now: at });
      await pruneOldEvents();
      const count = (state: string) => subscriptions.filter(each => each.state === state).length;
      return {
        subscriptions: { active: count('active'), paused: count('paused') },
        heldOrganizations: holds.length,
        delivered: sum(subscriptions.map(({ delivered }) => delivered)),
        refused: sum(subscriptions.map(({ refused }) => refused)),
      };
    },
    close: async () => {
      await sender?.stop();
      await reader.close();
      await port.close();
    },
  };
}

/** Opens events.db. Throws an error if it does not exist or its migrations have not run. */
async function openEventsPort(engine: Engine, now: () => number): Promise<EventsPort> {
  const port = await engine.openEvents(now);
  if (port === null) throw new Error('expected an events.db that has been migrated, got none');
  return port;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

if (parentPort !== null) {
  const port = parentPort;
  await serveThread(port, () => openEventApi(workerData, notice => port.postMessage({ notice })));
}

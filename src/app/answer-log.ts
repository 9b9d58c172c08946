import { REJECTION_REASONS } from '../inbox/rejection.js';
import type { Log } from './log.js';
import type { Metrics } from './operations/metrics.js';
import type { RejectionCounter } from '../webhook/rejection-counter.js';
import { type ReceiverAnswer, STATUS_BY_REJECTION_REASON } from '../webhook/receiver.js';

export interface AnswerLogOptions {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: Pick<
    Metrics,
    'observeAcceptDuration' | 'countRejections' | 'countDelivery' | 'countDuplicate'
  >;
  readonly counter: Pick<RejectionCounter, 'count'>;
  readonly reportIntervalMs?: number;
}

const TELL_EVERY_MS = 10_000;

/**
 * A line for each delivery. What was turned away, by its reason, and what only duplicates is counted and told once in a while:
 * a flood of webhooks is no flood of lines.
 */
export function createAnswerLog(options: AnswerLogOptions) {
  const { log, metrics, counter, reportIntervalMs: tellEveryMs = TELL_EVERY_MS } = options;
  for (const reason of REJECTION_REASONS)
    metrics.countRejections(STATUS_BY_REJECTION_REASON[reason], reason, 0);
  const tellRejected = (count: number, answer: ReceiverAnswer) =>
    log.warn({ ...describe(answer), rejected: count }, 'webhooks rejected');
  const rejected = new Map(REJECTION_REASONS.map(each => [each, createOccasion(tellEveryMs, tellRejected)]));
  const notStored = createOccasion(tellEveryMs, (count, answer) => {
    log.error({ ...describe(answer), notStored: count }, 'deliveries not stored');
  });

  const duplicates = createOccasion(tellEveryMs, (count, answer) => {
    const { delivery, stored, sender } = answer;
    const ids = { delivery: stored?.id, job: stored?.jobId, installation: delivery?.installationId };
    log.info({ ...ids, sender, duplicates: count }, 'deliveries came again: reads for them slow down');
  });

  function tellStored(answer: ReceiverAnswer): void {
    const { status, delivery, stored, durationMs: tookMs } = answer;
    metrics.observeAcceptDuration(tookMs / 1000);
    if (delivery === null) return;
    const { event, installationId: installation, reason, secretIndex, verdict } = delivery;
    metrics.countDelivery(verdict, event, secretIndex);
    if (stored?.isDuplicate) {
      metrics.countDuplicate();
      duplicates.add(answer);
      return;
    }
    const ids = { delivery: stored?.id, job: stored?.jobId, installation };
    log.info({ status, ...ids, event, reason }, `delivery ${verdict}`);
  }

  return {
    recordAnswer: (answer: ReceiverAnswer): void => {
      if (answer.rejection === null) return tellStored(answer);
      metrics.countRejections(answer.status, answer.rejection.reason);
      counter.count(answer.rejection, answer.status);
      return answer.delivery === null
        ? rejected.get(answer.rejection.reason)?.add(answer)
        : notStored.add(answer);
    },
    /** Tell what has not been told. */
    close: () => {
      for (const occasion of [...rejected.values(), notStored, duplicates]) occasion.close();
    },
  };
}

function describe({ status, rejection: rejected, sender, failure, delivery }: ReceiverAnswer): object {
  return {
    status,
    reason: rejected?.reason,
    sender,
    installation: delivery?.installationId,
    ...(failure && { code: failure.code, why: failure.message }),
  };
}

/** The first is told at once, those after it together with the latest of them. */
function createOccasion(everyMs: number, tell: (count: number, latest: ReceiverAnswer) => void) {
  let count = 0;
  let latest: ReceiverAnswer | undefined;
  let timer: NodeJS.Timeout | undefined;

  function turn(): void {
    timer = latest === undefined ? undefined : setTimeout(turn, everyMs).unref();
    if (latest !== undefined) tell(count, latest);
    count = 0;
    latest = undefined;
  }

  return {
    add: (told: ReceiverAnswer): void => {
      count += 1;
      latest = told;
      if (timer === undefined) turn();
    },
    close: () => {
      turn();
      clearTimeout(timer);
    },
  };
}

import { NotStoredError } from '../webhook/group-commit.js';
import { REFUSAL_REASONS } from '../inbox/refusal.js';
import type { Log } from './log.js';
import type { Metrics } from './operations/metrics.js';
import type { RefusalCounter } from '../webhook/refusals.js';
import { type Answer, REFUSAL_STATUS } from '../webhook/receiver.js';

export interface AnswerLogOptions {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: Pick<Metrics, 'accepted' | 'refused' | 'delivery' | 'duplicate'>;
  readonly refusals: Pick<RefusalCounter, 'count'>;
  readonly tellEveryMs?: number;
}

const TELL_EVERY_MS = 10_000;

/**
 * A line for each delivery. What was turned away and what only duplicates is counted and told once in a while:
 * a flood of posts is no flood of lines.
 */
export function createAnswerLog(options: AnswerLogOptions) {
  const { log, metrics, refusals, tellEveryMs = TELL_EVERY_MS } = options;
  for (const reason of REFUSAL_REASONS) metrics.refused(REFUSAL_STATUS[reason], reason, 0);
  const refused = createOccasion(tellEveryMs, (posts, answer) => {
    log.warn({ ...describe(answer), refused: posts }, 'posts refused');
  });
  const notStored = createOccasion(tellEveryMs, (posts, answer) => {
    log.error({ ...describe(answer), notStored: posts }, 'deliveries not stored');
  });

  const duplicates = createOccasion(tellEveryMs, (posts, answer) => {
    const { delivery, stored, sender } = answer;
    const ids = { delivery: stored?.id, job: stored?.jobId, installation: delivery?.installationId };
    log.info({ ...ids, sender, duplicates: posts }, 'deliveries came again: reads for them slow down');
  });

  function tellStored(answer: Answer): void {
    const { status, delivery, stored, tookMs } = answer;
    metrics.accepted(tookMs / 1000);
    if (delivery === null) return;
    const { event, installationId: installation, reason, secretIndex, verdict } = delivery;
    metrics.delivery(verdict, event, secretIndex);
    if (stored?.isDuplicate) {
      metrics.duplicate();
      duplicates.add(answer);
      return;
    }
    const ids = { delivery: stored?.id, job: stored?.jobId, installation };
    log.info({ status, ...ids, event, reason }, `delivery ${verdict}`);
  }

  return {
    answered: (answer: Answer): void => {
      if (answer.refused === null) return tellStored(answer);
      metrics.refused(answer.status, answer.refused.reason);
      refusals.count(answer.refused, answer.status);
      return answer.delivery === null ? refused.add(answer) : notStored.add(answer);
    },
    /** Tell what has not been told. */
    close: () => {
      for (const occasion of [refused, notStored, duplicates]) occasion.close();
    },
  };
}

function describe({ status, refused, sender, error, delivery }: Answer): object {
  return {
    status,
    reason: refused?.reason,
    sender,
    installation: delivery?.installationId,
    ...(error instanceof NotStoredError && { code: error.code, why: error.message }),
  };
}

/** The first is told at once, those after it together with the latest of them. */
function createOccasion(everyMs: number, tell: (count: number, latest: Answer) => void) {
  let count = 0;
  let latest: Answer | undefined;
  let timer: NodeJS.Timeout | undefined;

  function turn(): void {
    timer = latest === undefined ? undefined : setTimeout(turn, everyMs).unref();
    if (latest !== undefined) tell(count, latest);
    count = 0;
    latest = undefined;
  }

  return {
    add: (told: Answer): void => {
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

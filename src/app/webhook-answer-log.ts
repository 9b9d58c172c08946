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

const REPORT_INTERVAL_MS = 10_000;

/**
 * Creates an object that counts and logs the responses of the receiver. Webhooks rejected for the same reason share one log line per
 * interval, and so do duplicate webhooks. Such a line says how many there were.
 */
export function createAnswerLog(options: AnswerLogOptions) {
  const { log, metrics, counter, reportIntervalMs = REPORT_INTERVAL_MS } = options;
  for (const reason of REJECTION_REASONS)
    metrics.countRejections(STATUS_BY_REJECTION_REASON[reason], reason, 0);

  const rejectionReports = new Map(
    REJECTION_REASONS.map(reason => [
      reason,
      createThrottledReport(reportIntervalMs, (count, answer) =>
        log.warn({ ...getLogFields(answer), rejected: count }, 'webhooks rejected'),
      ),
    ]),
  );
  const notStoredReport = createThrottledReport(reportIntervalMs, (count, answer) =>
    log.error({ ...getLogFields(answer), notStored: count }, 'deliveries not stored'),
  );
  const duplicateReport = createThrottledReport(reportIntervalMs, (count, answer) => {
    const { delivery, stored, sender } = answer;
    const ids = { delivery: stored?.id, job: stored?.jobId, installation: delivery?.installationId };
    log.info({ ...ids, sender, duplicates: count }, 'duplicate deliveries received');
  });

  /** Counts a stored delivery in the metrics and logs it. Duplicate deliveries share one log line per interval. */
  function recordStoredDelivery(answer: ReceiverAnswer): void {
    const { status, delivery, stored, durationMs } = answer;
    metrics.observeAcceptDuration(durationMs / 1000);
    if (delivery === null) return;
    const { event, installationId: installation, reason, secretIndex, verdict } = delivery;
    metrics.countDelivery(verdict, event, secretIndex);
    if (stored?.isDuplicate) {
      metrics.countDuplicate();
      duplicateReport.add(answer);
      return;
    }
    const ids = { delivery: stored?.id, job: stored?.jobId, installation };
    log.info({ status, ...ids, event, reason }, `delivery ${verdict}`);
  }

  return {
    recordAnswer: (answer: ReceiverAnswer): void => {
      if (answer.rejection === null) return recordStoredDelivery(answer);
      const { reason } = answer.rejection;
      metrics.countRejections(answer.status, reason);
      counter.count(answer.rejection, answer.status);
      const isVerified = answer.delivery !== null;
      return isVerified ? notStoredReport.add(answer) : rejectionReports.get(reason)?.add(answer);
    },
    /** Logs the counts that have not been logged yet. */
    close: (): void => {
      for (const report of [...rejectionReports.values(), notStoredReport, duplicateReport]) report.close();
    },
  };
}

/** Returns the log fields of a webhook that was rejected or could not be stored. */
function getLogFields({ status, rejection, sender, failure, delivery }: ReceiverAnswer): object {
  return {
    status,
    reason: rejection?.reason,
    sender,
    installation: delivery?.installationId,
    ...(failure && { code: failure.code, why: failure.message }),
  };
}

/**
 * Creates a log throttle: `add` counts an answer, and `report` gets the count and the latest answer, at most once per
 * interval. The first answer is reported at once, and `close` reports the rest.
 */
function createThrottledReport(intervalMs: number, report: (count: number, latest: ReceiverAnswer) => void) {
  let count = 0;
  let latest: ReceiverAnswer | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** Calls `report` with the answers added since the last report and restarts the timer. Stops the timer if there were none. */
  function reportPending(): void {
    if (latest === undefined) {
      // The next answer starts the timer again.
      timer = undefined;
      return;
    }
    timer = setTimeout(reportPending, intervalMs).unref();
    report(count, latest);
    count = 0;
    latest = undefined;
  }

  return {
    add: (answer: ReceiverAnswer): void => {
      count += 1;
      latest = answer;
      // The first answer is reported at once.
      if (timer === undefined) reportPending();
    },
    close: (): void => {
      reportPending();
      clearTimeout(timer);
    },
  };
}

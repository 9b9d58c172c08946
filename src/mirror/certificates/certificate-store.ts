import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { formatInstant } from '../../resources/sql-values.js';
import { MirrorError } from '../mirror-error.js';
import type { CertificateStore, CertificateSession } from '../mirror.js';
import { ORPHAN_AGE_MS, type PdfStore } from './pdf-store.js';
import type { CertificateDownload, CertificateSelection } from '../port/certificates.js';
import type { MirrorPort } from '../port/mirror-port.js';
import { isIntactFileName } from './certificate-file-name.js';
import { SyncSession } from '../sync-session.js';

/** Downloads that share one commit. After a crash the uncommitted ones are requested again. */
const ANSWERS_PER_COMMIT = 16;

/** Creates the store of certificates. Saves their PDF files in `pdfs`, and their rows in the database behind `port`. */
export function createCertificateStore(
  port: MirrorPort,
  pdfs: PdfStore,
  now: () => number,
): CertificateStore {
  /** Marks the selected certificates for download, in batches. Returns how many certificates were marked. */
  async function markCertificatesDue(selection: CertificateSelection): Promise<number> {
    const at = now();
    let total = 0;
    for (;;) {
      const count = await port.makeCertificatesDue(selection, at);
      if (count === 0) return total;
      total += count;
      await yieldToEventLoop();
    }
  }

  return {
    makeNewDue: () => markCertificatesDue('new'),
    makeAllDue: async organizationId => void (await markCertificatesDue({ organizationId, filter: 'all' })),
    makeFailedDue: async organizationId =>
      void (await markCertificatesDue({ organizationId, filter: 'failed' })),
    removeOrphanFiles: async signal => {
      const { filledAt } = await port.readMirrorState();
      if (filledAt === null) return 0;
      let removed = 0;
      for await (const files of pdfs.list({ from: filledAt, to: now() - ORPHAN_AGE_MS })) {
        if (signal.aborted) break;
        removed += await port.removeUnreferencedFiles(files.filter(isIntactFileName));
      }
      return removed;
    },
    beginSession: async request => {
      const syncRequest = { ...request, resource: 'certificates' } as const;
      const sync = await SyncSession.begin({ port, part: 'certificates', now }, syncRequest);
      const { organizationId } = request;
      // The clock was set back since the last session: what that session requested would not be due until the old time.
      const wasClockAhead = (sync.previousState.attemptedAt ?? 0) > now();
      if (wasClockAhead) await markCertificatesDue({ organizationId, filter: 'ahead' });
      return createCertificateSession({ port, pdfs, now, organizationId, sync });
    },
  };
}

interface CertificateSessionOptions {
  readonly port: MirrorPort;
  readonly pdfs: PdfStore;
  readonly now: () => number;
  readonly organizationId: string;
  readonly sync: SyncSession;
}

/** Creates a session that lists the due certificates of one organization and stores the downloads. */
function createCertificateSession({
  port,
  pdfs,
  now,
  organizationId,
  sync,
}: CertificateSessionOptions): CertificateSession {
  let pendingDownloads: CertificateDownload[] = [];
  let lastCommit = Promise.resolve();
  let failedCount = 0;
  /** The retirement version for which each certificate is due. */
  let dueVersions = new Map<string, number>();

  /**
   * Writes the queued download results to the database in one commit. If the database rejects all or some of the results, deletes the
   * downloaded PDF files to which no row refers.
   */
  async function commitPendingDownloads(): Promise<void> {
    const answers = pendingDownloads;
    pendingDownloads = [];
    if (answers.length === 0) return;
    const files = answers.flatMap(({ result }) => (result.kind === 'file' ? [result.file.file] : []));
    try {
      const commit = await port.writeCertificates(sync.toOpenSync(), answers);
      sync.recordCommit(commit);
      if (commit.written.includes('gone')) await port.removeUnreferencedFiles(files);
    } catch (error) {
      if (error instanceof MirrorError) await port.removeUnreferencedFiles(files);
      throw error;
    }
  }

  /** Writes the queued download results to the database once the previous write has ended. */
  function flushDownloads(): Promise<void> {
    const commit = lastCommit.then(commitPendingDownloads);
    lastCommit = commit.catch(() => undefined);
    return commit;
  }

  /** Queues the result of a certificate download. Writes the queue to the database when it has 16 results. */
  async function queueDownload(
    retirementId: string,
    requestedAt: number,
    result: CertificateDownload['result'],
  ): Promise<void> {
    const retirementVersion = dueVersions.get(retirementId) ?? 0;
    pendingDownloads.push({ retirementId, requestedAt, retirementVersion, result });
    if (pendingDownloads.length >= ANSWERS_PER_COMMIT) await flushDownloads();
  }

  /** Whether a certificate is due at this instant, or, if `at` is null, whether one has failed. */
  async function isAnyDue(at: number | null): Promise<boolean> {
    return (await port.listDueCertificates(organizationId, at, 1)).length > 0;
  }

  return {
    listDue: async limit => {
      await flushDownloads();
      const due = await port.listDueCertificates(organizationId, now(), limit);
      dueVersions = new Map(due.map(row => [row.retirementId, row.retirementVersion]));
      return due;
    },
    store: async (retirementId, body, requestedAt) => {
      const file = await pdfs.save(retirementId, body);
      await queueDownload(retirementId, requestedAt, {
        kind: 'file',
        file,
        observedAt: formatInstant(now()),
      });
    },
    markUnavailable: (retirementId, requestedAt) =>
      queueDownload(retirementId, requestedAt, { kind: 'none' }),
    markFailed: (retirementId, { code, message }, requestedAt) => {
      failedCount += 1;
      return queueDownload(retirementId, requestedAt, { kind: 'fault', error: `${code}: ${message}` });
    },
    finish: async traffic => {
      await flushDownloads();
      const hasFailed = failedCount > 0 || (await isAnyDue(null));
      const isIncomplete = hasFailed || (await isAnyDue(now()));
      const quantity = failedCount > 0 ? `${failedCount}` : 'some';
      const message = hasFailed
        ? `${quantity} certificates could not be stored`
        : 'some certificates are still due';
      const fault = isIncomplete ? { code: 'certificates_left', message } : null;
      const state = isIncomplete ? 'partial' : 'complete';
      await sync.finish({ state, fault, isInterrupted: false, ...traffic });
      return state;
    },
    abandon: async (fault, traffic) => {
      try {
        await flushDownloads();
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
      }
      await sync.abandon(fault, traffic);
    },
  };
}

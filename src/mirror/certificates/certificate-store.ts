import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { formatInstant } from '../../resources/columns.js';
import { MirrorError } from '../errors.js';
import type { CertificateStore, CertificateWalk } from '../mirror.js';
import { ORPHAN_AGE_MS, type PdfStore } from '../pdf-store.js';
import type { CertificateAnswer, DueScope, MirrorPort } from '../port.js';
import { isIntactFileName } from './file-name.js';
import { SyncSession } from '../sync-session.js';

/** Answers that share one commit. After a crash the uncommitted ones are requested again. */
const ANSWERS_PER_COMMIT = 16;

/** Creates the certificate store. PDF files go to `pdfs`, database rows to `port`. */
export function createCertificateStore(
  port: MirrorPort,
  pdfs: PdfStore,
  now: () => number,
): CertificateStore {
  /** Marks certificates as due for download, in batches. Returns how many certificates became due. */
  async function makeDue(scope: DueScope): Promise<number> {
    const at = now();
    let total = 0;
    for (;;) {
      const count = await port.makeCertificatesDue(scope, at);
      if (count === 0) return total;
      total += count;
      await yieldToEventLoop();
    }
  }

  return {
    makeNewDue: () => makeDue('new'),
    makeAllDue: async organizationId => void (await makeDue({ organizationId, filter: 'all' })),
    makeFailedDue: async organizationId => void (await makeDue({ organizationId, filter: 'failed' })),
    removeOrphanFiles: async signal => {
      const { filledAt } = await port.readState();
      if (filledAt === null) return 0;
      let removed = 0;
      for await (const files of pdfs.list({ from: filledAt, to: now() - ORPHAN_AGE_MS })) {
        if (signal.aborted) break;
        removed += await port.removeUnreferencedFiles(files.filter(isIntactFileName));
      }
      return removed;
    },
    beginWalk: async request => {
      const syncRequest = { ...request, resource: 'certificates' } as const;
      const sync = await SyncSession.begin({ port, part: 'certificates', now }, syncRequest);
      const { organizationId } = request;
      // The clock was set back since the last walk: what that walk requested would not be due until the old time.
      const wasClockAhead = (sync.previousState.attemptedAt ?? 0) > now();
      if (wasClockAhead) await makeDue({ organizationId, filter: 'ahead' });
      return createCertificateWalk({ port, pdfs, now, organizationId, sync });
    },
  };
}

interface CertificateWalkOptions {
  readonly port: MirrorPort;
  readonly pdfs: PdfStore;
  readonly now: () => number;
  readonly organizationId: string;
  readonly sync: SyncSession;
}

/** Creates a session that lists the due certificates of one organization and stores the downloads. */
function createCertificateWalk({
  port,
  pdfs,
  now,
  organizationId,
  sync,
}: CertificateWalkOptions): CertificateWalk {
  let pendingAnswers: CertificateAnswer[] = [];
  let lastCommit = Promise.resolve();
  let failedCount = 0;
  /** The retirement version for which each certificate is due. */
  let dueVersions = new Map<string, number>();

  /** Commits the pending answers. If the database refuses the rows, deletes the files that were saved for them. */
  async function commitPending(): Promise<void> {
    const answers = pendingAnswers;
    pendingAnswers = [];
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

  /** Commits the pending answers after the commit in progress, because commits must not overlap. */
  function flush(): Promise<void> {
    const commit = lastCommit.then(commitPending);
    lastCommit = commit.catch(() => undefined);
    return commit;
  }

  /** Queues the result of a download for the next commit. Commits when a full batch is queued. */
  async function addAnswer(
    retirementId: string,
    requestedAt: number,
    result: CertificateAnswer['result'],
  ): Promise<void> {
    const retirementVersion = dueVersions.get(retirementId) ?? 0;
    pendingAnswers.push({ retirementId, requestedAt, retirementVersion, result });
    if (pendingAnswers.length >= ANSWERS_PER_COMMIT) await flush();
  }

  /**
   * Whether the organization has a certificate that is due at this instant. Null asks for failed certificates instead.
   */
  async function isAnyDue(at: number | null): Promise<boolean> {
    return (await port.listDueCertificates(organizationId, at, 1)).length > 0;
  }

  return {
    listDue: async limit => {
      await flush();
      const due = await port.listDueCertificates(organizationId, now(), limit);
      dueVersions = new Map(due.map(row => [row.retirementId, row.retirementVersion]));
      return due;
    },
    store: async (retirementId, body, requestedAt) => {
      const file = await pdfs.save(retirementId, body);
      await addAnswer(retirementId, requestedAt, { kind: 'file', file, observedAt: formatInstant(now()) });
    },
    markUnavailable: (retirementId, requestedAt) => addAnswer(retirementId, requestedAt, { kind: 'none' }),
    markFailed: (retirementId, { code, message }, requestedAt) => {
      failedCount += 1;
      return addAnswer(retirementId, requestedAt, { kind: 'fault', error: `${code}: ${message}` });
    },
    finish: async traffic => {
      await flush();
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
        await flush();
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
      }
      await sync.abandon(fault, traffic);
    },
  };
}

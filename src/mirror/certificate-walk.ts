import { setImmediate as pause } from 'node:timers/promises';
import type { Books, Fault, RunRequest } from './books.js';
import {
  type CertificateFile,
  type CertificateRows,
  createCertificateRows,
  type DueCertificate,
  type Moment,
  type Stored,
} from './certificate-rows.js';
import type { CertificateFolder } from './certificates.js';
import { formatInstant } from './columns.js';
import { MirrorError } from './errors.js';
import { Run, type Traffic } from './run.js';
import { createUnnamedFiles, type UnnamedFiles } from './unnamed-files.js';

const DUE_AT_ONCE = 500;
/** Files whose rows share one commit. A crash before it costs asking for them again. */
const ROWS_AT_ONCE = 16;

/** One organization's walk over the certificates that are due. A file is stored as it comes, its row soon after. */
export interface CertificateWalk {
  /** Up to `limit` of those that are due; an answered one is not due any more. */
  due(limit: number): DueCertificate[];
  /** Stores the file, then its row. Throws a MirrorError `certificate_*` where it is not a whole PDF. */
  store(retirementId: string, body: AsyncIterable<Uint8Array>, askedAt: number): Promise<void>;
  /** There is none: asked again after a day, then after two, up to thirty. */
  unavailable(retirementId: string, askedAt: number): void;
  /** It could not be had: asked again after five minutes, doubling up to a day. What was stored stays. */
  fail(retirementId: string, fault: Fault, askedAt: number): void;
  /** Complete where every due certificate was answered, else partial. */
  finish(traffic: Traffic): 'complete' | 'partial';
  abandon(fault: Fault, traffic: Traffic): void;
}

export interface CertificateStore {
  /** Enters certificates of new and changed retirements of all organizations; answers how many. */
  enter(): Promise<number>;
  /** For a sync in full: every certificate of the organization is due. */
  makeAllDue(organizationId: string): Promise<void>;
  /** What was looked at in the future, before the clock was put right, would wait until that has passed. */
  makeAheadDue(organizationId: string): Promise<void>;
  /** Whether anything is due for the organization now. */
  isDue(organizationId: string): boolean;
  /** Removes files that a walk or a purge that was killed has left without a row; answers how many. */
  sweep(signal: AbortSignal): Promise<number>;
  begin(request: Omit<RunRequest, 'resource' | 'announced'>): CertificateWalk;
}

export function createCertificateStore(
  books: Books,
  folder: CertificateFolder,
  now: () => number,
): CertificateStore {
  const rows = createCertificateRows(books);
  const unnamed = createUnnamedFiles(books.db, folder);
  return {
    enter: async () => {
      let entered = 0;
      for (;;) {
        const slice = rows.enter(now());
        if (slice === 0) return entered;
        entered += slice;
        await pause();
      }
    },
    makeAllDue: async organizationId => {
      const at = now();
      while (rows.makeDue(organizationId, at, DUE_AT_ONCE) > 0) await pause();
    },
    makeAheadDue: async organizationId => {
      const at = now();
      while (rows.makeAheadDue(organizationId, at, DUE_AT_ONCE) > 0) await pause();
    },
    isDue: organizationId => rows.due(organizationId, now(), 1).length > 0,
    sweep: signal => unnamed.sweep(now(), signal),
    begin: request =>
      beginWalk({ rows, folder, unnamed, now, organizationId: request.organizationId, run: runOf(request) }),
  };

  function runOf(request: Omit<RunRequest, 'resource' | 'announced'>): Run {
    return new Run(books, { ...request, resource: 'certificates', announced: true }, 'certificates', now);
  }
}

interface WalkParts {
  readonly rows: CertificateRows;
  readonly folder: CertificateFolder;
  readonly unnamed: UnnamedFiles;
  readonly now: () => number;
  readonly organizationId: string;
  readonly run: Run;
}

interface Saved {
  readonly moment: Moment;
  readonly file: CertificateFile;
  /** When the download had come to its end. */
  readonly arrivedAt: number;
}

function beginWalk({ rows, folder, unnamed, now, organizationId, run }: WalkParts): CertificateWalk {
  let saved: Saved[] = [];
  let failed = 0;
  let wanted = new Map<string, number>();

  function momentOf(retirementId: string, askedAt: number): Moment {
    return { organizationId, retirementId, askedAt, retirementVersion: wanted.get(retirementId) ?? 0 };
  }

  function writeRows(): void {
    if (saved.length === 0) return;
    const batch = saved;
    saved = [];
    let outcomes: Stored[] = [];
    try {
      run.write(runId => {
        outcomes = batch.map(each => writeRow(each, runId));
        return { added: count(outcomes, 'stored'), changed: count(outcomes, 'replaced') };
      });
      run.counts.unchanged += count(outcomes, 'unchanged');
    } catch (error) {
      if (error instanceof MirrorError) unnamed.remove(batch.map(({ file }) => file.file));
      throw error;
    }
    if (outcomes.includes('gone')) unnamed.remove(batch.map(({ file }) => file.file));
  }

  /** A purge may have removed the file since: then it is due as it was. */
  function writeRow({ moment, file, arrivedAt }: Saved, runId: number): Stored {
    if (!folder.has(file.file)) return 'gone';
    return rows.store(moment, file, before => run.dates.give(formatInstant(arrivedAt), before), runId);
  }

  function writeOne(work: () => void): void {
    writeRows();
    run.write(() => {
      work();
      return {};
    });
  }

  return {
    due: limit => {
      writeRows();
      const due = rows.due(organizationId, now(), limit);
      wanted = new Map(due.map(row => [row.retirement_id, row.retirement_version]));
      return due;
    },
    store: async (retirementId, body, askedAt) => {
      const moment = momentOf(retirementId, askedAt);
      const file = await folder.save(retirementId, body);
      saved.push({ moment, file, arrivedAt: now() });
      if (saved.length >= ROWS_AT_ONCE) writeRows();
    },
    unavailable: (retirementId, askedAt) => writeOne(() => rows.unavailable(momentOf(retirementId, askedAt))),
    fail: (retirementId, { code, message }, askedAt) => {
      failed += 1;
      writeOne(() => rows.fail(momentOf(retirementId, askedAt), `${code}: ${message}`));
    },
    finish: traffic => {
      writeRows();
      const state = failed > 0 || rows.due(organizationId, now(), 1).length > 0 ? 'partial' : 'complete';
      const message = failed > 0 ? `${failed} certificates could not be stored` : 'some are still due';
      const fault = state === 'partial' ? { code: 'certificates_left', message } : null;
      run.end({ state, fault, isInterrupted: false, ...traffic });
      return state;
    },
    abandon: (fault, traffic) => {
      try {
        writeRows();
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
      }
      run.abandon(fault, traffic);
    },
  };
}

function count(outcomes: readonly Stored[], outcome: Stored): number {
  return outcomes.filter(each => each === outcome).length;
}

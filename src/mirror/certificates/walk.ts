import { setImmediate as pause } from 'node:timers/promises';
import { formatInstant } from '../../resources/columns.js';
import { MirrorError } from '../errors.js';
import type { CertificateStore, CertificateWalk } from '../mirror.js';
import { LEFTOVER_AFTER_MS, type PdfStore } from '../pdf-store.js';
import type { CertificateAnswer, DueScope, MirrorPort } from '../port.js';
import { isWhole } from './file-name.js';
import { Sync } from '../sync.js';

/** Answers whose rows share one commit. A crash before it costs asking for them again. */
const ROWS_AT_ONCE = 16;

export function createCertificateStore(
  port: MirrorPort,
  pdfs: PdfStore,
  now: () => number,
): CertificateStore {
  async function makeDue(due: DueScope): Promise<number> {
    const at = now();
    let made = 0;
    for (;;) {
      const some = await port.makeCertificatesDue(due, at);
      if (some === 0) return made;
      made += some;
      await pause();
    }
  }

  return {
    enter: () => makeDue('new'),
    makeAllDue: async organizationId => void (await makeDue({ organizationId, which: 'all' })),
    makeFailedDue: async organizationId => void (await makeDue({ organizationId, which: 'failed' })),
    sweep: async signal => {
      const { filledAt } = await port.readState();
      if (filledAt === null) return 0;
      let removed = 0;
      const old = { from: filledAt, to: now() - LEFTOVER_AFTER_MS };
      for await (const files of pdfs.list(old)) {
        if (signal.aborted) break;
        removed += await port.removeUnnamedFiles(files.filter(isWhole));
      }
      return removed;
    },
    begin: async request => {
      const whole = { ...request, resource: 'certificates' } as const;
      const sync = await Sync.begin({ port, part: 'certificates', now }, whole);
      const { organizationId } = request;
      // The last walk is of the future: what it looked at would wait until that has passed.
      const isAhead = (sync.before.attemptedAt ?? 0) > now();
      if (isAhead) await makeDue({ organizationId, which: 'ahead' });
      return beginWalk({ port, pdfs, now, organizationId, sync });
    },
  };
}

interface WalkParts {
  readonly port: MirrorPort;
  readonly pdfs: PdfStore;
  readonly now: () => number;
  readonly organizationId: string;
  readonly sync: Sync;
}

function beginWalk({ port, pdfs, now, organizationId, sync }: WalkParts): CertificateWalk {
  let answers: CertificateAnswer[] = [];
  let writing = Promise.resolve();
  let failed = 0;
  let wanted = new Map<string, number>();

  async function writeBatch(): Promise<void> {
    const batch = answers;
    answers = [];
    if (batch.length === 0) return;
    const files = batch.flatMap(({ came }) => (came.kind === 'file' ? [came.file.file] : []));
    try {
      const done = await port.writeCertificates(sync.open(), batch);
      sync.note(done);
      if (done.written.includes('gone')) await port.removeUnnamedFiles(files);
    } catch (error) {
      if (error instanceof MirrorError) await port.removeUnnamedFiles(files);
      throw error;
    }
  }

  /** One commit after the other: downloads end side by side. */
  function write(): Promise<void> {
    const done = writing.then(writeBatch);
    writing = done.catch(() => undefined);
    return done;
  }

  async function note(retirementId: string, askedAt: number, came: CertificateAnswer['came']): Promise<void> {
    const retirementVersion = wanted.get(retirementId) ?? 0;
    answers.push({ retirementId, askedAt, retirementVersion, came });
    if (answers.length >= ROWS_AT_ONCE) await write();
  }

  return {
    due: async limit => {
      await write();
      const due = await port.listDueCertificates(organizationId, now(), limit);
      wanted = new Map(due.map(row => [row.retirementId, row.retirementVersion]));
      return due;
    },
    store: async (retirementId, body, askedAt) => {
      const file = await pdfs.save(retirementId, body);
      await note(retirementId, askedAt, { kind: 'file', file, observedAt: formatInstant(now()) });
    },
    unavailable: (retirementId, askedAt) => note(retirementId, askedAt, { kind: 'none' }),
    fail: (retirementId, { code, message }, askedAt) => {
      failed += 1;
      return note(retirementId, askedAt, { kind: 'fault', error: `${code}: ${message}` });
    },
    finish: async traffic => {
      await write();
      const isAny = async (at: number | null) =>
        (await port.listDueCertificates(organizationId, at, 1)).length > 0;
      const isFailing = failed > 0 || (await isAny(null));
      const isLeft = isFailing || (await isAny(now()));
      const many = failed > 0 ? `${failed}` : 'some';
      const message = isFailing ? `${many} certificates could not be stored` : 'some are still due';
      const fault = isLeft ? { code: 'certificates_left', message } : null;
      const state = isLeft ? 'partial' : 'complete';
      await sync.end({ state, fault, isInterrupted: false, ...traffic });
      return state;
    },
    abandon: async (fault, traffic) => {
      try {
        await write();
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
      }
      await sync.abandon(fault, traffic);
    },
  };
}

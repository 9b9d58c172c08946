import { setImmediate as pause } from 'node:timers/promises';
import type { Books, Fault, RunRequest } from './books.js';
import { createCertificateRows, type DueCertificate, type Stored } from './certificate-rows.js';
import type { CertificateFolder } from './certificates.js';
import { Run, type Traffic } from './run.js';

const DUE_AT_ONCE = 500;

/** One organization's walk over the certificates that are due. Each answer is written as it comes. */
export interface CertificateWalk {
  /** Up to `limit` of those that are due; an answered one is not due any more. */
  due(limit: number): DueCertificate[];
  /** Stores the file, then the row. Throws a MirrorError `certificate_*` where it is not a whole PDF. */
  store(retirementId: string, body: AsyncIterable<Uint8Array>, askedAt: number): Promise<Stored>;
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
  /** Whether anything is due for the organization now. */
  isDue(organizationId: string): boolean;
  begin(request: Omit<RunRequest, 'resource' | 'announced'>): CertificateWalk;
}

export function createCertificateStore(
  books: Books,
  folder: CertificateFolder,
  now: () => number,
): CertificateStore {
  const rows = createCertificateRows(books);
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
    isDue: organizationId => rows.due(organizationId, now(), 1).length > 0,
    begin: request => {
      const { organizationId } = request;
      const run = new Run(
        books,
        { ...request, resource: 'certificates', announced: true },
        'certificates',
        now,
      );
      let failed = 0;
      return {
        due: limit => rows.due(organizationId, now(), limit),
        store: async (retirementId, body, askedAt) => {
          const file = await folder.save(retirementId, body);
          const result: { stored: Stored } = { stored: 'gone' };
          run.write(runId => {
            result.stored = rows.store({ organizationId, retirementId, askedAt }, file, run.stamp, runId);
            return {
              added: Number(result.stored === 'stored'),
              changed: Number(result.stored === 'replaced'),
            };
          });
          if (result.stored === 'unchanged') run.counts.unchanged += 1;
          if (result.stored === 'gone' && !rows.isNamed(file.file)) await folder.remove(file.file);
          return result.stored;
        },
        unavailable: (retirementId, askedAt) =>
          run.write(() => {
            rows.unavailable({ organizationId, retirementId, askedAt });
            return {};
          }),
        fail: (retirementId, fault, askedAt) => {
          failed += 1;
          run.write(() => {
            rows.fail({ organizationId, retirementId, askedAt }, `${fault.code}: ${fault.message}`);
            return {};
          });
        },
        finish: traffic => {
          const state = failed > 0 || rows.due(organizationId, now(), 1).length > 0 ? 'partial' : 'complete';
          const message = failed > 0 ? `${failed} certificates could not be stored` : 'some are still due';
          const fault = state === 'partial' ? { code: 'certificates_left', message } : null;
          run.end({ state, fault, isInterrupted: false, ...traffic });
          return state;
        },
        abandon: (fault, traffic) => run.abandon(fault, traffic),
      };
    },
  };
}

import { toCanonicalJson } from './leaf.js';
import { NO_LIMIT, type EvidencePort, NUMBERED_KINDS, type NumberedKind } from './port.js';

const MAX_INPUTS_PER_READ = 1000;

/**
 * Yields leaf inputs for the spans of an organization that still continue. A span is a series of scheduled reads of one list that found
 * nothing new. Omits spans whose newest read is in a leaf with a lower index than `beforeIndex`.
 */
export async function* streamUnsealedSpans(port: EvidencePort, organizationId: string, beforeIndex: number) {
  const sealed = new Map(
    (await port.listSealedReads(organizationId, beforeIndex)).map(each => [each.resource, each.read_at]),
  );
  for (const span of await port.listOpenSpans(organizationId))
    if ((span.read_at ?? '') > (sealed.get(span.resource ?? '') ?? '')) yield span;
}

/**
 * Yields leaf inputs for everything in the mirror that is not sealed, in this order: changes up to the number `newestChange`, syncs, spans
 * of unchanged reads that have ended, and coverage (the name and state of each installation and its organization) that differs from what is
 * sealed. `progress` has the highest sealed numbers of changes, syncs and spans.
 */
export async function* streamUnsealedInputs(
  port: EvidencePort,
  progress: Record<NumberedKind, number>,
  newestChange: number,
) {
  const newest = {
    change: newestChange,
    sync: await port.findNewestNumber('sync', progress.sync),
    unchanged: await port.findNewestNumber('unchanged', progress.unchanged),
  };
  for (const kind of NUMBERED_KINDS)
    for (let after = progress[kind]; after < newest[kind]; after += MAX_INPUTS_PER_READ)
      yield* await port.listNumberedInputs(kind, after, Math.min(newest[kind], after + MAX_INPUTS_PER_READ));
  const known = await port.listLeaves({ newest: 'coverage', beforeIndex: NO_LIMIT });
  const bySubject = new Map(known.map(({ subject, record }) => [subject, record]));
  for (const input of await port.listCoverage())
    if (bySubject.get(input.subject) !== toCanonicalJson(input.record)) yield input;
}

import { toCanonicalJson } from './leaf.js';
import { NO_LIMIT, type EvidencePort, NUMBERED_KINDS, type NumberedKind } from './port.js';

const MAX_OBSERVATIONS_PER_READ = 1000;

/** Yields the open spans of an organization whose newest read is not sealed yet. */
export async function* streamUnsealedSpans(port: EvidencePort, organizationId: string, before: number) {
  const sealed = new Map(
    (await port.listSealedReads(organizationId, before)).map(each => [each.resource, each.read_at]),
  );
  for (const span of await port.listOpenSpans(organizationId))
    if ((span.read_at ?? '') > (sealed.get(span.resource ?? '') ?? '')) yield span;
}

/** Yields what the mirror has and no leaf contains. */
export async function* streamUnsealed(
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
    for (let after = progress[kind]; after < newest[kind]; after += MAX_OBSERVATIONS_PER_READ)
      yield* await port.listObservations(
        kind,
        after,
        Math.min(newest[kind], after + MAX_OBSERVATIONS_PER_READ),
      );
  const known = await port.listLeaves({ newest: 'coverage', before: NO_LIMIT });
  const bySubject = new Map(known.map(({ subject, record }) => [subject, record]));
  for (const observation of await port.listCoverage())
    if (bySubject.get(observation.subject) !== toCanonicalJson(observation.record)) yield observation;
}

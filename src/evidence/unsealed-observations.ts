import { toCanonicalJson } from './leaf.js';
import { ALL, type EvidencePort, NUMBERED, type Numbered } from './port.js';

const MAX_OBSERVATIONS_PER_READ = 1000;

/** Yields the open spans of an organization whose newest read is not sealed yet. */
export async function* streamUnsealedSpans(port: EvidencePort, organizationId: string, before: number) {
  const sealed = new Map(
    (await port.reads(organizationId, before)).map(each => [each.resource, each.read_at]),
  );
  for (const span of await port.openSpans(organizationId))
    if ((span.read_at ?? '') > (sealed.get(span.resource ?? '') ?? '')) yield span;
}

/** Yields what the mirror has and no leaf contains. */
export async function* streamUnsealed(
  port: EvidencePort,
  ends: Record<Numbered, number>,
  newestChange: number,
) {
  const newest = {
    change: newestChange,
    sync: await port.newest('sync', ends.sync),
    unchanged: await port.newest('unchanged', ends.unchanged),
  };
  for (const kind of NUMBERED)
    for (let after = ends[kind]; after < newest[kind]; after += MAX_OBSERVATIONS_PER_READ)
      yield* await port.facts(kind, after, Math.min(newest[kind], after + MAX_OBSERVATIONS_PER_READ));
  const known = await port.leaves({ newest: 'coverage', before: ALL });
  const bySubject = new Map(known.map(({ subject, record }) => [subject, record]));
  for (const fact of await port.coverage())
    if (bySubject.get(fact.subject) !== toCanonicalJson(fact.record)) yield fact;
}

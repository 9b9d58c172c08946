import type { Resource } from '../plan.js';
import { readList } from './read-list.js';
import { readProjects } from './read-projects.js';
import type { Noted, Reading, Step } from './step.js';

/** What goes wrong is told beside what was read until then. */
export async function readResource(step: Step, resource: Resource): Promise<Reading> {
  const before = (await step.mirror.lastReads(step.organizationId)).get(resource) ?? null;
  const noted: Noted = { ends: [], holdEnd: null };
  try {
    if (resource === 'projects') await readProjects(step);
    else await readList(step, resource, before, noted);
    return { before, ...noted, error: null };
  } catch (error) {
    return { before, ...noted, error };
  }
}

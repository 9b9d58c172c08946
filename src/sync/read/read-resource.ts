import type { Resource } from '../plan.js';
import { readList } from './read-list.js';
import { readProjects } from './read-projects.js';
import type { Step } from './step.js';

export function readResource(step: Step, resource: Resource): Promise<void> {
  return resource === 'projects' ? readProjects(step) : readList(step, resource);
}

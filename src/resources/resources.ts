import { CERTIFICATES } from './certificates.js';
import type { ResourceEntry } from './entry.js';
import { INSTALLATIONS } from './installations.js';
import { LISTS, type Resource } from './lists.js';
import { PROJECTS } from './projects.js';

export const ENTRY_BY_RESOURCE: Readonly<Record<Resource, ResourceEntry>> = {
  ...LISTS,
  projects: PROJECTS,
  certificates: CERTIFICATES,
};

export function isResource(name: string): name is Resource {
  return Object.hasOwn(ENTRY_BY_RESOURCE, name);
}

/** Everything that has versions. */
export const ENTRIES: readonly ResourceEntry[] = [INSTALLATIONS, ...Object.values(ENTRY_BY_RESOURCE)];

/** Those whose rows have this column. */
export function entriesWith(column: string): readonly ResourceEntry[] {
  return ENTRIES.filter(entry => hasColumn(entry, column));
}

export function hasColumn({ key, columns }: ResourceEntry, column: string): boolean {
  return [...key, ...columns].some(({ name }) => name === column);
}

/** Its word in `syncs`. */
export function resourceOfTable({ table }: Pick<ResourceEntry, 'table'>): string {
  return Object.entries(ENTRY_BY_RESOURCE).find(([, entry]) => entry.table === table)?.[0] ?? 'installation';
}

export function findEntry(table: string): ResourceEntry | undefined {
  return ENTRIES.find(entry => entry.table === table);
}

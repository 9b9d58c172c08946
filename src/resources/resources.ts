import { CERTIFICATES } from './certificates.js';
import type { Entry } from './entry.js';
import { INSTALLATIONS } from './installations.js';
import { LISTS, type Resource } from './lists.js';
import { PROJECTS } from './projects.js';

export const ENTRY_OF: Readonly<Record<Resource, Entry>> = {
  ...LISTS,
  projects: PROJECTS,
  certificates: CERTIFICATES,
};

export function isResource(name: string): name is Resource {
  return Object.hasOwn(ENTRY_OF, name);
}

/** Everything that has versions. */
export const ENTRIES: readonly Entry[] = [INSTALLATIONS, ...Object.values(ENTRY_OF)];

/** Those whose rows have this column. */
export function entriesWith(column: string): readonly Entry[] {
  return ENTRIES.filter(entry => hasColumn(entry, column));
}

export function hasColumn({ key, columns }: Entry, column: string): boolean {
  return [...key, ...columns].some(({ name }) => name === column);
}

/** Its word in `syncs`. */
export function wordOf({ table }: Pick<Entry, 'table'>): string {
  return Object.entries(ENTRY_OF).find(([, entry]) => entry.table === table)?.[0] ?? 'installation';
}

export function findEntry(table: string): Entry | undefined {
  return ENTRIES.find(entry => entry.table === table);
}

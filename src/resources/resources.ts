/**
 * The catalogue of everything that is mirrored: one entry for each resource, with its table, key, columns, permission and display.
 * Mirror, store, queries and commands derive their tables and columns from these entries, so that a new resource needs no
 * code of its own there.
 */
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

/** Whether a name is the name of a mirrored resource. */
export function isResource(name: string): name is Resource {
  return Object.hasOwn(ENTRY_BY_RESOURCE, name);
}

/** The entries of all tables with versions: the resources and the installations. */
export const ENTRIES: readonly ResourceEntry[] = [INSTALLATIONS, ...Object.values(ENTRY_BY_RESOURCE)];

/** Returns the name of the resource that a table stores, such as `retirements`. */
export function findResourceOfTable({ table }: Pick<ResourceEntry, 'table'>): string {
  return Object.entries(ENTRY_BY_RESOURCE).find(([, entry]) => entry.table === table)?.[0] ?? 'installation';
}

/** Finds the entry of a table by the table's name. */
export function findEntry(table: string): ResourceEntry | undefined {
  return ENTRIES.find(entry => entry.table === table);
}

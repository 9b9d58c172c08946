/** The public module `carbon-mirror/mirror`, for programs that read the mirror with their own SQL. */
import type { Kysely } from 'kysely';
import type { MirrorTables } from './typed/mirror-tables.js';

export type { MirrorTables };

/** The location of the mirror: the folder `DATA_DIR` of the worker, or the URL of its PostgreSQL database. */
export type MirrorLocation =
  | { readonly dataDir: string; readonly url?: never }
  | { readonly url: string; readonly dataDir?: never };

/**
 * Opens the mirror for typed, read-only queries. Close it with `destroy()`. Throws if there is no mirror, or if another version
 * of carbon-mirror has migrated it.
 */
export async function openMirror(location: MirrorLocation): Promise<Kysely<MirrorTables>> {
  if (location.url !== undefined)
    return await (await import('./postgres/open-typed-mirror.js')).openTypedMirror(location.url);
  return await (await import('./sqlite/open-typed-mirror.js')).openTypedMirror(location.dataDir);
}

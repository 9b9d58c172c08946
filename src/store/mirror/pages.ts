import type { List, MirrorPort, StoredPage } from '../../mirror/port.js';
import type { Database } from '../database.js';
import { insertion, statement } from '../statement.js';
import { kindsOf } from './versions.js';

type Whose = { readonly organizationId: string; readonly resource: string };

const FROM = statement<
  Whose & { from: number; end: number },
  { readonly page: number; readonly digest: string; readonly versions: Uint8Array }
>(
  `SELECT page, digest, versions FROM mirror.read_pages
   WHERE organization_id = @organizationId AND resource = @resource AND page >= @from AND page < @end`,
);
const PUT = insertion(
  'mirror.read_pages',
  kindsOf('read_pages', ['organization_id', 'resource', 'page', 'digest', 'versions']),
  `ON CONFLICT (organization_id, resource, page) DO UPDATE SET digest = excluded.digest, versions = excluded.versions`,
);
const DROP = statement<Whose & { from: number }>(
  'DELETE FROM mirror.read_pages WHERE organization_id = @organizationId AND resource = @resource AND page >= @from',
);

/** What stood on each page of a list when it was last read. */
export function createPages({ look }: Database): MirrorPort['pages'] {
  return async ({ organizationId, resource }, from, count) => {
    const [rows] = await look(FROM({ organizationId, resource, from, end: from + count }));
    return rows.map(row => ({ ...row, versions: unpack(row.versions) }));
  };
}

/** `numbers`: those of the inserts of this transaction, which pages name by numbers below zero. */
export function putPages(
  { organizationId, resource }: List,
  pages: readonly StoredPage[],
  numbers: readonly number[],
) {
  return PUT(
    pages.map(({ page, digest, versions }) => {
      const known = versions.map(version => (version < 0 ? (numbers[-version - 1] ?? 0) : version));
      return [organizationId, resource, page, digest, new Uint8Array(Float64Array.from(known).buffer)];
    }),
  );
}

export function dropPages({ organizationId, resource }: List, from: number) {
  return DROP({ organizationId, resource, from });
}

function unpack(bytes: Uint8Array): number[] {
  return [...new Float64Array(Uint8Array.from(bytes).buffer)];
}

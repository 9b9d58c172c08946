import type { Sqlite } from '../open.js';
import type { List, StoredPage } from '../../../mirror/port.js';

export type Pages = ReturnType<typeof createPages>;

/** What stood on each page of a list when it was last read. */
export function createPages(db: Sqlite) {
  const from = db.prepare<
    [string, string, number, number],
    { page: number; digest: string; versions: Buffer }
  >(
    `SELECT page, digest, versions FROM read_pages
     WHERE organization_id = ? AND resource = ? AND page >= ? AND page < ?`,
  );
  const put = db.prepare<[string, string, number, string, Buffer]>(
    `INSERT INTO read_pages VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET digest = excluded.digest, versions = excluded.versions`,
  );
  const drop = db.prepare<[string, string, number]>(
    'DELETE FROM read_pages WHERE organization_id = ? AND resource = ? AND page >= ?',
  );
  return {
    from: ({ organizationId, resource }: List, page: number, count: number): StoredPage[] =>
      from
        .all(organizationId, resource, page, page + count)
        .map(row => ({ ...row, versions: unpack(row.versions) })),
    /** These write and belong into a transaction. */
    put: ({ organizationId, resource }: List, { page, digest, versions }: StoredPage): void =>
      void put.run(organizationId, resource, page, digest, pack(versions)),
    dropFrom: ({ organizationId, resource }: List, page: number): void =>
      void drop.run(organizationId, resource, page),
  };
}

function pack(versions: readonly number[]): Buffer {
  const bytes = Buffer.alloc(versions.length * 8);
  for (const [index, version] of versions.entries()) bytes.writeDoubleLE(version, index * 8);
  return bytes;
}

function unpack(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
}

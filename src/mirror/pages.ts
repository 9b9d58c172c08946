import { hash } from 'node:crypto';
import type { Sqlite } from '../database/open.js';
import type { ListResource } from './resources.js';

export interface StoredPage {
  readonly digest: string;
  readonly versions: readonly number[];
}

/** What stood on each page of a list when it was last read. */
export interface Pages {
  get(page: number): StoredPage | undefined;
  /** These write and belong into a transaction. */
  put(page: number, stored: StoredPage): void;
  dropFrom(page: number): void;
}

export function createPages(db: Sqlite, organizationId: string, resource: ListResource): Pages {
  const get = db.prepare<[string, string, number], { digest: string; versions: Buffer }>(
    'SELECT digest, versions FROM read_pages WHERE organization_id = ? AND resource = ? AND page = ?',
  );
  const put = db.prepare<[string, string, number, string, Buffer]>(
    `INSERT INTO read_pages VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET digest = excluded.digest, versions = excluded.versions`,
  );
  const drop = db.prepare<[string, string, number]>(
    'DELETE FROM read_pages WHERE organization_id = ? AND resource = ? AND page >= ?',
  );
  return {
    get: page => {
      const stored = get.get(organizationId, resource, page);
      return stored && { digest: stored.digest, versions: unpack(stored.versions) };
    },
    put: (page, stored) => void put.run(organizationId, resource, page, stored.digest, pack(stored.versions)),
    dropFrom: page => void drop.run(organizationId, resource, page),
  };
}

/** A hash of the documents in their order. JSON holds no NUL, so that no two pages are joined to the same text. */
export function digestOf(items: readonly { document: string }[]): string {
  return hash('sha256', items.map(item => item.document).join('\0'));
}

function pack(versions: readonly number[]): Buffer {
  const bytes = Buffer.alloc(versions.length * 8);
  for (const [index, version] of versions.entries()) bytes.writeDoubleLE(version, index * 8);
  return bytes;
}

function unpack(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
}

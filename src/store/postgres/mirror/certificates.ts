import { randomUUID } from 'node:crypto';
import {
  assertRetirementId,
  formatCertificateFileName,
  parseRetirementId,
} from '../../../mirror/certificates/certificate-file-name.js';
import { createPdfValidator, MAX_PDF_BYTES } from '../../../mirror/certificates/pdf.js';
import type { PdfStore, TimeWindow } from '../../../mirror/pdf-store.js';
import { formatInstant } from '../../../resources/sql-values.js';
import type { Table } from '../../dialect.js';
import type { CertificateFiles } from '../../mirror/certificates.js';
import { statement } from '../../statement.js';
import { databaseIn } from '../database.js';
import type { Postgres, Query } from '../open.js';

export interface TableOptions {
  readonly now: () => number;
  readonly maxBytes?: number;
}

const READ_AT_ONCE = 1024 * 1024;
const LISTED_AT_ONCE = 500;

/** What is not what its name says was damaged in the database. */
const MOVE_ASIDE = statement<{ file: string; aside: string; sha256: string }>(
  `UPDATE mirror.certificate_files SET file = @aside
   WHERE file = @file AND sha256(bytes) <> decode(@sha256, 'hex')`,
);
const ADD = statement<{ file: string; at: string; bytes: Uint8Array }>(
  'INSERT INTO mirror.certificate_files (file, written_at, bytes) VALUES (@file, @at, @bytes) ON CONFLICT DO NOTHING',
);

/** PDFs as rows. Each is held here as it comes, and they are written one after the other; one is read a part at a time. */
export function createCertificateTable(
  postgres: Postgres,
  { now, maxBytes = MAX_PDF_BYTES }: TableOptions,
): PdfStore {
  const { query } = postgres;
  const { transact } = databaseIn(postgres);
  let writing = Promise.resolve();
  async function put(file: string, sha256: string, chunks: readonly Uint8Array[]): Promise<void> {
    const aside = MOVE_ASIDE({ file, aside: `${file}.${randomUUID()}.damaged`, sha256 });
    const add = ADD({ file, at: formatInstant(now()), bytes: Buffer.concat(chunks) });
    await transact(batch => batch(aside, add));
  }
  const write = (...given: Parameters<typeof put>): Promise<void> => {
    const done = writing.then(() => put(...given));
    writing = done.catch(() => undefined);
    return done;
  };
  return {
    prepare: async () => undefined,
    save: async (retirementId, body) => {
      assertRetirementId(retirementId);
      const check = createPdfValidator(maxBytes);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) {
        check.addChunk(chunk);
        chunks.push(chunk);
      }
      const written = check.finish();
      const file = formatCertificateFileName(retirementId, written.sha256);
      await write(file, written.sha256, chunks);
      return { file, ...written };
    },
    open: async file => {
      if (parseRetirementId(file) === null) return null;
      const first = await partFrom(query, file, 0);
      return first === null ? null : readParts(query, file, first);
    },
    list: written => list(query, written),
    flush: async () => undefined,
  };
}

/** Null where it is not there; empty where it has no more. */
async function partFrom(query: Query, file: string, from: number): Promise<Uint8Array | null> {
  const [found] = await query<{ bytes: Uint8Array }>(
    `SELECT substring(bytes FROM $2 FOR ${READ_AT_ONCE}) AS bytes FROM mirror.certificate_files WHERE file = $1`,
    [file, from + 1],
  );
  return found?.bytes ?? null;
}

async function* readParts(query: Query, file: string, first: Uint8Array): AsyncGenerator<Uint8Array> {
  let read = 0;
  for (let part: Uint8Array | null = first; part !== null; part = await partFrom(query, file, read)) {
    if (part.length > 0) yield part;
    read += part.length;
    if (part.length < READ_AT_ONCE) return;
  }
}

async function* list(query: Query, written: TimeWindow | null): AsyncGenerator<string[]> {
  const stretch = written && [written.from, written.to].map(formatInstant);
  const within = stretch === null ? '' : 'AND written_at >= $2 AND written_at < $3';
  for (let after = ''; ; ) {
    const found = await query<{ file: string }>(
      `SELECT file FROM mirror.certificate_files WHERE file > $1 ${within} ORDER BY file LIMIT ${LISTED_AT_ONCE}`,
      [after, ...(stretch ?? [])],
    );
    if (found.length > 0) yield found.map(({ file }) => file);
    if (found.length < LISTED_AT_ONCE) return;
    after = found.at(-1)?.file ?? after;
  }
}

const NAMES = { file: 'text' } as const;
type Named = { readonly file: string };
const AMONG = statement<{ files: Table }, Named>(
  ({ rows }) =>
    `SELECT file FROM mirror.certificate_files WHERE file IN (SELECT g.file FROM ${rows('@files', 'g', NAMES)})`,
);
const REMOVE = statement<{ files: Table }, Named>(
  ({ rows }) =>
    `DELETE FROM mirror.certificate_files WHERE file IN (SELECT g.file FROM ${rows('@files', 'g', NAMES)}) RETURNING file`,
);
const namesOf = (files: readonly string[]) => ({
  files: { columns: NAMES, rows: files.map(file => [file]) },
});

export const CERTIFICATE_FILES: CertificateFiles = {
  findStored: async (batch, files) => new Set((await batch(AMONG(namesOf(files))))[0].map(({ file }) => file)),
  remove: async (batch, files) => (await batch(REMOVE(namesOf(files))))[0].length,
};

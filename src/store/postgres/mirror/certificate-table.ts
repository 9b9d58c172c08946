import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import {
  validateRetirementId,
  formatCertificateFileName,
  parseRetirementId,
} from '../../../mirror/certificates/certificate-file-name.js';
import { createPdfValidator, MAX_PDF_BYTES } from '../../../mirror/certificates/pdf.js';
import type { PdfStore, TimeWindow } from '../../../mirror/certificates/pdf-store.js';
import { formatInstant } from '../../../resources/sql-values.js';
import type { Table } from '../../dialect.js';
import type { CertificateFiles } from '../../mirror/certificates.js';
import type { SqlBuilder } from '../../sql/builder.js';
import { jsonRelation, tableRef } from '../../sql/columns.js';
import type { SqlFunctions } from '../../sql/functions.js';
import { type Params, prepared } from '../../sql/prepared.js';
import type { RunBatch } from '../../statement.js';
import { toDatabase } from '../database.js';
import type { Postgres } from '../open-postgres.js';

/** The clock and the size limit of the PDFs. */
export interface CertificateTableOptions {
  readonly now: () => number;
  readonly maxBytes?: number;
}

/** The bytes of a file that one query reads. */
const PART_BYTES = 1024 * 1024;
/** The file names that one query lists. */
const LIST_LIMIT = 500;

const own = tableRef('mirror.certificate_files');

type DamagedFile = { readonly file: string; readonly newName: string; readonly sha256: string };
/** Renames a file whose bytes no longer have the hash in its name, because it was damaged in the database. */
const RENAME_DAMAGED = prepared(({ db }, { file, newName, sha256 }: Params<DamagedFile>) =>
  db
    .updateTable('mirror.certificate_files')
    .set({ file: newName })
    .where('file', '=', file)
    .where(sql<boolean>`sha256(${own.bytes}) <> decode(${sha256}, 'hex')`),
);
type NewFile = { readonly file: string; readonly at: string; readonly bytes: Uint8Array };
const INSERT_FILE = prepared(({ db }, { file, at, bytes }: Params<NewFile>) =>
  db
    .insertInto('mirror.certificate_files')
    .values({ file, written_at: at, bytes })
    .onConflict(conflict => conflict.doNothing()),
);
type FilePart = { readonly file: string; readonly start: number };
/** Reads a part of a file. `start` is the position of its first byte, counted from 1. */
const READ_PART = prepared(({ db }, { file, start }: Params<FilePart>) =>
  db
    .selectFrom('mirror.certificate_files')
    .select(({ fn }) => fn<Uint8Array>('substr', ['bytes', start, sql.lit(PART_BYTES)]).as('bytes'))
    .where('file', '=', file),
);
const selectNextFiles = ({ db }: SqlBuilder, after: RawBuilder<string>) =>
  db
    .selectFrom('mirror.certificate_files')
    .select('file')
    .where('file', '>', after)
    .orderBy('file')
    .limit(sql.lit(LIST_LIMIT));
const LIST_FILES = prepared((builder, { after }: Params<{ readonly after: string }>) =>
  selectNextFiles(builder, after),
);
type WrittenFiles = { readonly after: string; readonly from: string; readonly to: string };
const LIST_WRITTEN_FILES = prepared((builder, { after, from, to }: Params<WrittenFiles>) =>
  selectNextFiles(builder, after).where('written_at', '>=', from).where('written_at', '<', to),
);

const fileList = jsonRelation('given', { file: 'text' });
type FileList = { readonly files: Table };
const givenFiles = (fn: SqlFunctions, { files }: Params<FileList>) =>
  sql<string>`(SELECT ${fileList.columns.file} FROM ${fileList.from(fn, files)})`;
const FIND_FILES = prepared(({ db, fn }, params: Params<FileList>) =>
  db.selectFrom('mirror.certificate_files').select('file').where('file', 'in', givenFiles(fn, params)),
);
const REMOVE_FILES = prepared(({ db, fn }, params: Params<FileList>) =>
  db.deleteFrom('mirror.certificate_files').where('file', 'in', givenFiles(fn, params)).returning('file'),
);

/**
 * Creates a PDF store that keeps each file in a table row. It collects a new PDF in memory and writes one PDF at a time. It
 * reads files in parts.
 */
export function createCertificateTable(
  postgres: Postgres,
  { now, maxBytes = MAX_PDF_BYTES }: CertificateTableOptions,
): PdfStore {
  const { read, transact } = toDatabase(postgres);
  let lastWrite = Promise.resolve();
  /** Inserts a file unless it is stored. If the stored file is damaged, keeps it under another name. */
  async function insertFile(file: string, sha256: string, chunks: readonly Uint8Array[]): Promise<void> {
    const rename = RENAME_DAMAGED({ file, newName: `${file}.${randomUUID()}.damaged`, sha256 });
    const add = INSERT_FILE({ file, at: formatInstant(now()), bytes: Buffer.concat(chunks) });
    await transact(batch => batch(rename, add));
  }
  const insertInTurn = (...file: Parameters<typeof insertFile>): Promise<void> => {
    const done = lastWrite.then(() => insertFile(...file));
    lastWrite = done.catch(() => undefined);
    return done;
  };
  return {
    prepare: async () => undefined,
    save: async (retirementId, body) => {
      validateRetirementId(retirementId);
      const validator = createPdfValidator(maxBytes);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) {
        validator.addChunk(chunk);
        chunks.push(chunk);
      }
      const written = validator.finish();
      const file = formatCertificateFileName(retirementId, written.sha256);
      await insertInTurn(file, written.sha256, chunks);
      return { file, ...written };
    },
    open: async file => {
      if (parseRetirementId(file) === null) return null;
      const first = await readPart(read, file, 0);
      return first === null ? null : readParts(read, file, first);
    },
    list: written => listFiles(read, written),
    flush: async () => undefined,
  };
}

/** Reads up to `PART_BYTES` of a stored PDF from an offset. Returns no bytes at the end, and null if there is no such PDF. */
async function readPart(read: RunBatch, file: string, offset: number): Promise<Uint8Array | null> {
  const [[part]] = await read(READ_PART({ file, start: offset + 1 }));
  return part?.bytes ?? null;
}

/** Yields the bytes of a stored PDF in parts of `PART_BYTES`. `first` is the first part, which was already read. */
async function* readParts(read: RunBatch, file: string, first: Uint8Array): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let part: Uint8Array | null = first; part !== null; part = await readPart(read, file, offset)) {
    if (part.length > 0) yield part;
    offset += part.length;
    if (part.length < PART_BYTES) return;
  }
}

/** Yields the names of all stored PDFs, in small arrays. If `written` is not null, yields only PDFs written in that time window. */
async function* listFiles(read: RunBatch, written: TimeWindow | null): AsyncGenerator<string[]> {
  const range = written && { from: formatInstant(written.from), to: formatInstant(written.to) };
  for (let after = ''; ; ) {
    const [rows] = await read(
      range === null ? LIST_FILES({ after }) : LIST_WRITTEN_FILES({ after, ...range }),
    );
    if (rows.length > 0) yield rows.map(({ file }) => file);
    if (rows.length < LIST_LIMIT) return;
    after = rows.at(-1)?.file ?? after;
  }
}

const toFileTable = (files: readonly string[]) => fileList.toTable(files.map(file => ({ file })));

/** Finds and removes files in the same transactions that change certificates. */
export const CERTIFICATE_FILES: CertificateFiles = {
  findStored: async (batch, files) => {
    const [stored] = await batch(FIND_FILES({ files: toFileTable(files) }));
    return new Set(stored.map(({ file }) => file));
  },
  remove: async (batch, files) => (await batch(REMOVE_FILES({ files: toFileTable(files) })))[0].length,
};

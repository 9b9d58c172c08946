import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Postgres } from '../../src/store/postgres/open-postgres.js';
import type { PdfStore } from '../../src/mirror/certificates/pdf-store.js';

/** Changes stored PDFs without the program. */
export interface PdfTampering {
  /** Writes or replaces a file. */
  readonly put: (file: string, text: string, writtenAt: number) => Promise<void>;
  /** Changes the instant at which a file was written. */
  readonly setWrittenAt: (file: string, writtenAt: number) => Promise<void>;
  readonly remove: (file: string) => Promise<void>;
}

export function tamperWithFiles(folder: string): PdfTampering {
  const setWrittenAt = async (file: string, at: number) =>
    utimesSync(join(folder, file), at / 1000, at / 1000);
  return {
    put: async (file, text, writtenAt) => {
      writeFileSync(join(folder, file), text);
      await setWrittenAt(file, writtenAt);
    },
    setWrittenAt: setWrittenAt,
    remove: async file => rmSync(join(folder, file)),
  };
}

export function tamperWithTable({ query }: Postgres): PdfTampering {
  const remove = async (file: string) =>
    void (await query('DELETE FROM mirror.certificate_files WHERE file = $1', [file]));
  return {
    put: async (file, text, writtenAt) => {
      await remove(file);
      const at = new Date(writtenAt).toISOString();
      await query('INSERT INTO mirror.certificate_files (file, written_at, bytes) VALUES ($1, $2, $3)', [
        file,
        at,
        Buffer.from(text),
      ]);
    },
    setWrittenAt: async (file, writtenAt) => {
      const at = new Date(writtenAt).toISOString();
      await query('UPDATE mirror.certificate_files SET written_at = $2 WHERE file = $1', [file, at]);
    },
    remove,
  };
}

export async function listPdfNames(pdfs: Pick<PdfStore, 'list'>): Promise<string[]> {
  const names: string[] = [];
  for await (const files of pdfs.list(null)) names.push(...files);
  return names.toSorted();
}

/** Returns the text of a PDF; null if it does not exist. */
export async function readPdfText(pdfs: PdfStore, file: string): Promise<string | null> {
  const body = await pdfs.open(file);
  if (body === null) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

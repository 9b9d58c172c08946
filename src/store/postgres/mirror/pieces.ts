import { randomUUID } from 'node:crypto';
import { demandId, fileNameOf, retirementOf } from '../../../mirror/certificates/file-name.js';
import { createPdfCheck, MAX_PDF_BYTES } from '../../../mirror/certificates/pdf.js';
import { LEFTOVER_AFTER_MS, type PdfStore, type Stretch } from '../../../mirror/pdf-store.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Postgres, Query } from '../open.js';
import { createPerform, given, known, type Perform } from './perform.js';

export interface PiecesOptions {
  readonly now: () => number;
  readonly maxBytes?: number;
}

const PIECE_BYTES = 1024 * 1024;
const LISTED_AT_ONCE = 500;
const PART = "'.%.part'";

const NAME = given('name');
const HOLD_NAME = `SELECT '{}'::jsonb FROM pg_advisory_xact_lock(hashtextextended(${NAME}, 0))`;

/** Piece by piece: what is there under the name already is the same, or was damaged. */
const COMPARE = `
  SELECT jsonb_build_object('pieces', (SELECT count(*) FROM mirror.certificate_pieces WHERE file = ${given('part')}),
    'same', EXISTS (SELECT 1 FROM mirror.certificate_pieces WHERE file = ${NAME})
    AND NOT EXISTS (
      SELECT 1 FROM (SELECT piece, bytes FROM mirror.certificate_pieces WHERE file = ${NAME}) AS there
      FULL JOIN (SELECT piece, bytes FROM mirror.certificate_pieces WHERE file = ${given('part')}) AS came USING (piece)
      WHERE there.bytes IS DISTINCT FROM came.bytes))`;

const IS_WHOLE = `${known('pieces', 'bigint')} = ${given('pieces', 'bigint')}`;
const DROP_PART = `DELETE FROM mirror.certificate_pieces
  WHERE file = ${given('part')} AND ${known('same', 'boolean')}`;
const MOVE_ASIDE = `UPDATE mirror.certificate_pieces SET file = ${given('aside')}
  WHERE file = ${NAME} AND NOT ${known('same', 'boolean')} AND ${IS_WHOLE}`;
/** The bytes stay where they are: they stand beside the table, and only what points to them is written again. */
const NAME_PART = `UPDATE mirror.certificate_pieces SET file = ${NAME}
  WHERE file = ${given('part')} AND ${IS_WHOLE}`;
const answering = (statement: string) => `${statement} RETURNING '{}'::jsonb`;

/**
 * PDFs in pieces, so that neither side ever holds more than one. They are written under a name of their own, each piece
 * committed by itself: no transaction waits for the registry. All get the name of the file at once, in the end.
 */
export function createPieces(
  { query }: Postgres,
  { now, maxBytes = MAX_PDF_BYTES }: PiecesOptions,
): PdfStore {
  const perform = createPerform(query);
  return {
    prepare: async () => {
      await query(`DELETE FROM mirror.certificate_pieces WHERE file LIKE ${PART} AND written_at < $1`, [
        formatInstant(now() - LEFTOVER_AFTER_MS),
      ]);
    },
    save: async (retirementId, body) => {
      demandId(retirementId);
      const part = `.${randomUUID()}.part`;
      try {
        const check = createPdfCheck(maxBytes);
        let pieces = 0;
        for await (const bytes of cutInPieces(body, check.take)) {
          await query(
            'INSERT INTO mirror.certificate_pieces (file, piece, written_at, bytes) VALUES ($1, $2, $3, $4)',
            [part, pieces++, formatInstant(now()), bytes],
          );
        }
        const written = check.end();
        const file = fileNameOf(retirementId, written.sha256);
        await namePart(perform, { part, pieces, name: file });
        return { file, ...written };
      } catch (error) {
        // Where the server is gone too, `prepare` removes it one day.
        await query('DELETE FROM mirror.certificate_pieces WHERE file = $1', [part]).catch(() => undefined);
        throw error;
      }
    },
    open: async file => {
      if (retirementOf(file) === null) return null;
      const first = await pieceFrom(query, file, 0);
      return first === undefined ? null : readPieces(query, file, first);
    },
    list: written => list(query, written),
    flush: async () => undefined,
  };
}

interface Part {
  readonly part: string;
  readonly pieces: number;
  readonly name: string;
}

async function namePart(perform: Perform, { part, pieces, name }: Part): Promise<void> {
  const changes = [MOVE_ASIDE, DROP_PART, NAME_PART].map(answering);
  const aside = `${name}.${randomUUID()}.damaged`;
  const found = await perform<{ pieces: number }>([HOLD_NAME, COMPARE, ...changes], {
    name,
    part,
    pieces,
    aside,
  });
  if (found.pieces !== pieces)
    throw new Error(`${found.pieces} of ${pieces} pieces of a certificate were left`);
}

async function* cutInPieces(
  body: AsyncIterable<Uint8Array>,
  take: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  let piece = Buffer.allocUnsafe(PIECE_BYTES);
  let filled = 0;
  for await (const chunk of body) {
    take(chunk);
    for (let from = 0; from < chunk.length; ) {
      const taken = Math.min(chunk.length - from, PIECE_BYTES - filled);
      piece.set(chunk.subarray(from, from + taken), filled);
      from += taken;
      filled += taken;
      if (filled < PIECE_BYTES) continue;
      yield piece;
      filled = 0;
    }
  }
  piece = piece.subarray(0, filled);
  if (filled > 0) yield piece;
}

interface Piece {
  readonly piece: number;
  readonly bytes: Uint8Array;
}

/** One that is missing is passed over: what is left has another hash. */
async function pieceFrom(query: Query, file: string, from: number): Promise<Piece | undefined> {
  const [found] = await query<Piece>(
    `SELECT piece, bytes FROM mirror.certificate_pieces WHERE file = $1 AND piece >= $2 ORDER BY piece LIMIT 1`,
    [file, from],
  );
  return found;
}

async function* readPieces(query: Query, file: string, first: Piece): AsyncGenerator<Uint8Array> {
  for (
    let next: Piece | undefined = first;
    next !== undefined;
    next = await pieceFrom(query, file, next.piece + 1)
  ) {
    yield next.bytes;
  }
}

async function* list(query: Query, written: Stretch | null): AsyncGenerator<string[]> {
  const stretch = written && [written.from, written.to].map(formatInstant);
  const within = stretch === null ? '' : 'AND written_at >= $2 AND written_at < $3';
  for (let after = ''; ; ) {
    const found = await query<{ file: string }>(
      `SELECT DISTINCT file FROM mirror.certificate_pieces WHERE file > $1 ${within} ORDER BY file LIMIT ${LISTED_AT_ONCE}`,
      [after, ...(stretch ?? [])],
    );
    if (found.length > 0) yield found.map(({ file }) => file);
    if (found.length < LISTED_AT_ONCE) return;
    after = found.at(-1)?.file ?? after;
  }
}

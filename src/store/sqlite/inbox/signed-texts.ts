import { DUPLICATE_WITHIN_MS } from '../../../inbox/delivery.js';
import { createMemory, REMEMBERED } from '../../../inbox/memory.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

interface SignedText {
  readonly sha256: string;
  readonly signedData: string;
  /** Epoch ms. */
  readonly receivedAt: number;
}

interface Known {
  readonly id: number;
  /** Epoch ms. */
  readonly seenAt: number;
}

/** The latest texts by their SHA-256, in memory: an index in the database would cost a page for each delivery. */
export function createSignedTexts(db: Sqlite) {
  const memory = createMemory(readLatest(db));
  const touch = statement<{ id: number; sha256: string; receivedAt: string }>(
    db,
    'UPDATE signed_texts SET last_received_at = @receivedAt WHERE id = @id AND sha256 = @sha256',
  );
  const insert = statement<{ sha256: string; receivedAt: string; signedData: string }, { id: number }>(
    db,
    `INSERT INTO signed_texts (sha256, last_received_at, signed_data)
    VALUES (@sha256, @receivedAt, @signedData) RETURNING id`,
  );

  function findOrInsert({ sha256, receivedAt, signedData }: SignedText): number {
    const id = memory.get(sha256)?.id;
    const at = { sha256, receivedAt: formatInstant(receivedAt) };
    if (id !== undefined && touch.run({ id, ...at }) === 1) return id;
    const row = insert.get({ ...at, signedData });
    if (row === undefined) throw new Error('expected the id of a stored text, got none');
    return row.id;
  }

  return {
    /** Whether the same text came within the hour before this one. */
    isDuplicate: ({ sha256, receivedAt }: SignedText): boolean => {
      const seenAt = memory.get(sha256)?.seenAt;
      return seenAt !== undefined && Math.abs(receivedAt - seenAt) < DUPLICATE_WITHIN_MS;
    },
    /** It came again, and its row stands. */
    seen: ({ sha256, receivedAt }: SignedText): void => {
      const known = memory.get(sha256);
      if (known !== undefined) memory.set(sha256, { id: known.id, seenAt: receivedAt });
    },
    /** Store the text unless it came before, and answer its id. To be run inside `write`. */
    keep: (text: SignedText): number => {
      const id = findOrInsert(text);
      memory.set(text.sha256, { id, seenAt: text.receivedAt });
      return id;
    },
    committed: memory.committed,
    rolledBack: memory.rolledBack,
  };
}

function readLatest(db: Sqlite): Map<string, Known> {
  const latest = db
    .prepare<[], { sha256: string; id: number; at: string }>(
      `SELECT sha256, id, last_received_at AS at FROM signed_texts ORDER BY id DESC LIMIT ${REMEMBERED}`,
    )
    .all()
    .toReversed();
  return new Map(latest.map(({ sha256, id, at }) => [sha256, { id, seenAt: Date.parse(at) }]));
}

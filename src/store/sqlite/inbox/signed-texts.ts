import { DUPLICATE_WITHIN_MS } from '../../../inbox/delivery.js';
import { createMemory, REMEMBERED } from '../../../inbox/memory.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

interface SignedText {
  readonly digest: string;
  readonly signedData: string;
  /** Epoch ms. */
  readonly receivedAt: number;
}

interface Known {
  readonly id: number;
  /** Epoch ms. */
  readonly seenAt: number;
}

/** The latest texts by digest, in memory: an index in the database would cost a page for each delivery. */
export function createSignedTexts(db: Sqlite) {
  const memory = createMemory(readLatest(db));
  const touch = statement<{ id: number; digest: string; receivedAt: string }>(
    db,
    'UPDATE signed_texts SET last_received_at = @receivedAt WHERE id = @id AND digest = @digest',
  );
  const insert = statement<{ digest: string; receivedAt: string; signedData: string }, { id: number }>(
    db,
    `INSERT INTO signed_texts (digest, last_received_at, signed_data)
    VALUES (@digest, @receivedAt, @signedData) RETURNING id`,
  );

  function findOrInsert({ digest, receivedAt, signedData }: SignedText): number {
    const id = memory.get(digest)?.id;
    const at = { digest, receivedAt: formatInstant(receivedAt) };
    if (id !== undefined && touch.run({ id, ...at }) === 1) return id;
    const row = insert.get({ ...at, signedData });
    if (row === undefined) throw new Error('expected the id of a stored text, got none');
    return row.id;
  }

  return {
    /** Whether the same text came within the hour before this one. */
    isDuplicate: ({ digest, receivedAt }: SignedText): boolean => {
      const seenAt = memory.get(digest)?.seenAt;
      return seenAt !== undefined && Math.abs(receivedAt - seenAt) < DUPLICATE_WITHIN_MS;
    },
    /** It came again, and its row stands. */
    seen: ({ digest, receivedAt }: SignedText): void => {
      const known = memory.get(digest);
      if (known !== undefined) memory.set(digest, { id: known.id, seenAt: receivedAt });
    },
    /** Store the text unless it came before, and answer its id. To be run inside `write`. */
    keep: (text: SignedText): number => {
      const id = findOrInsert(text);
      memory.set(text.digest, { id, seenAt: text.receivedAt });
      return id;
    },
    committed: memory.committed,
    rolledBack: memory.rolledBack,
  };
}

function readLatest(db: Sqlite): Map<string, Known> {
  const latest = db
    .prepare<[], { digest: string; id: number; at: string }>(
      `SELECT digest, id, last_received_at AS at FROM signed_texts ORDER BY id DESC LIMIT ${REMEMBERED}`,
    )
    .all()
    .toReversed();
  return new Map(latest.map(({ digest, id, at }) => [digest, { id, seenAt: Date.parse(at) }]));
}

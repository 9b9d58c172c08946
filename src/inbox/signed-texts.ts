import type { Sqlite } from '../database/open.js';
import { parameter, statement } from '../database/statement.js';
import { queries, toInstant } from './queries.js';

export interface SignedText {
  readonly digest: string;
  readonly signedData: string;
  /** Epoch ms. */
  readonly receivedAt: number;
}

export interface SignedTexts {
  /** Store the text unless it came before, and answer its id. To be run inside `write`. */
  keep(text: SignedText): number;
  /** The transaction was committed. */
  remember(): void;
  /** The transaction was rolled back. */
  forget(): void;
}

/** Repeats come soon after one another; so many digests are known at a time. */
const REMEMBERED = 10_000;

/** The ids of the latest texts by digest, in memory: an index in the database would cost a page for each delivery. */
export function createSignedTexts(db: Sqlite): SignedTexts {
  const known = readLatest(db);
  const fresh = new Map<string, number>();
  const touch = statement<{ id: number; digest: string; receivedAt: string }>(
    db,
    queries
      .updateTable('signed_texts')
      .set({ last_received_at: parameter<string>('receivedAt') })
      .where('id', '=', parameter<number>('id'))
      .where('digest', '=', parameter<string>('digest')),
  );
  const insert = statement<{ digest: string; receivedAt: string; signedData: string }, { id: number }>(
    db,
    queries
      .insertInto('signed_texts')
      .values({
        digest: parameter<string>('digest'),
        last_received_at: parameter<string>('receivedAt'),
        signed_data: parameter<string>('signedData'),
      })
      .returning('id'),
  );

  return {
    keep: ({ digest, receivedAt, signedData }) => {
      const id = fresh.get(digest) ?? known.get(digest);
      const at = { digest, receivedAt: toInstant(receivedAt) };
      if (id !== undefined && touch.run({ id, ...at }) === 1) return id;
      const row = insert.get({ ...at, signedData });
      if (row === undefined) throw new Error('expected the id of a stored text, got none');
      fresh.set(digest, row.id);
      return row.id;
    },
    remember: () => {
      for (const [digest, id] of fresh) known.set(digest, id);
      fresh.clear();
      for (const oldest of known.keys()) {
        if (known.size <= REMEMBERED) return;
        known.delete(oldest);
      }
    },
    forget: () => fresh.clear(),
  };
}

function readLatest(db: Sqlite): Map<string, number> {
  const latest = statement<Record<string, never>, { digest: string; id: number }>(
    db,
    queries.selectFrom('signed_texts').select(['digest', 'id']).orderBy('id', 'desc').limit(REMEMBERED),
  );
  return new Map(
    latest
      .all({})
      .toReversed()
      .map(({ digest, id }) => [digest, id]),
  );
}

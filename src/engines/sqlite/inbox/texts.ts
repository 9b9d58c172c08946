import type { SignedText } from '../../../inbox/delivery.js';
import { type Sqlite, write } from '../open.js';

/** What is looked through and emptied for a person's sake. */
export interface Texts {
  readonly above: (id: number, limit: number) => SignedText[];
  /** Answers how many deliveries came with them. */
  readonly empty: (ids: readonly number[]) => number;
}

export function createTexts(db: Sqlite): Texts {
  const next = db.prepare<[number, number], SignedText>(
    `SELECT id, signed_data AS signedData FROM signed_texts WHERE id > ? AND signed_data <> '' ORDER BY id LIMIT ?`,
  );
  const empty = db.prepare<[number]>("UPDATE signed_texts SET signed_data = '' WHERE id = ?");
  const named = db.prepare<[number], number>('SELECT count(*) FROM deliveries WHERE text_id = ?').pluck();
  return {
    above: (id, limit) => next.all(id, limit),
    empty: ids => {
      db.pragma('secure_delete = ON');
      write(db, () => ids.forEach(id => empty.run(id)));
      return ids.reduce((sum, id) => sum + (named.get(id) ?? 0), 0);
    },
  };
}

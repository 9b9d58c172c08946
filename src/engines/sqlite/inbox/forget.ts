import { type Sqlite, write } from '../open.js';

export interface ForgottenTexts {
  /** Signed texts that were emptied. Their digests and deliveries stay. */
  readonly texts: number;
  readonly deliveries: number;
}

/** A receiver waits for each write no longer than it may: few texts in one transaction. */
const BATCH = 100;

/**
 * Empty every signed text whose content the test names. The row stays, so that a repeat of the same bytes
 * does not bring the text back while the receiver still knows it.
 */
export function forgetTexts(db: Sqlite, isAbout: (content: string) => boolean): ForgottenTexts {
  db.pragma('secure_delete = ON');
  const next = db.prepare<[number, number], { id: number; signed_data: string }>(
    "SELECT id, signed_data FROM signed_texts WHERE id > ? AND signed_data <> '' ORDER BY id LIMIT ?",
  );
  const empty = db.prepare<[number]>("UPDATE signed_texts SET signed_data = '' WHERE id = ?");
  const named = db.prepare<[number], number>('SELECT count(*) FROM deliveries WHERE text_id = ?').pluck();
  const forgotten: number[] = [];
  let last = 0;
  for (;;) {
    const batch = next.all(last, BATCH);
    const ids = batch
      .filter(({ signed_data: text }) => isAbout(Buffer.from(text, 'base64').toString('utf8')))
      .map(({ id }) => id);
    if (ids.length > 0) write(db, () => ids.forEach(id => empty.run(id)));
    forgotten.push(...ids);
    last = batch.at(-1)?.id ?? last;
    if (batch.length < BATCH) break;
  }
  const deliveries = forgotten.reduce((sum, id) => sum + (named.get(id) ?? 0), 0);
  return { texts: forgotten.length, deliveries };
}

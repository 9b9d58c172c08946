import type { Reader } from '../store/contract/reader.js';

/** Whatever is asked in it was true at one moment; what is asked in one inside another, at that one's. */
export async function inSnapshot<T>(reader: Reader, work: (reader: Reader) => Promise<T>): Promise<T> {
  if (reader.db.isTransaction) return await work(reader);
  const snapshot = reader.db.transaction().setIsolationLevel('repeatable read');
  return await snapshot.execute(async db => await work({ ...reader, db }));
}

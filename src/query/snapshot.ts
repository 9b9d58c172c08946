import type { Reader } from '../engines/contract/reader.js';

/** Whatever is asked in it was true at one moment. */
export async function inSnapshot<T>(reader: Reader, work: (reader: Reader) => Promise<T>): Promise<T> {
  const snapshot = reader.db.transaction().setIsolationLevel('repeatable read');
  return await snapshot.execute(async db => await work({ ...reader, db }));
}

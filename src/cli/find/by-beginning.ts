import type { Reader } from '../../store/contract/reader.js';
import { type Beginning, readBeginnings } from '../../query/lists/find.js';
import type { Entry } from '../../resources/entry.js';
import { notThereFault } from '../exit.js';

/** The whole name, from its beginning as a table shows it, with or without the sign that there is more. Null where nothing begins so. */
export async function wholeName(
  reader: Reader,
  entry: Entry,
  text: string,
  where?: Beginning,
): Promise<string | null> {
  const beginning = text.replace(/…$/, '');
  if (beginning === '') return null;
  const [name = null, other] = await readBeginnings(reader, entry, beginning, where);
  if (other === undefined) return name;
  throw notThereFault(
    `"${text}" is the beginning of several of ${entry.table}: ${name}, ${other}.`,
    'Give more of it.',
  );
}

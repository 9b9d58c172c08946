import type { Reader } from '../../store/contract/reader.js';
import type { Row } from '../../store/contract/tables.js';
import { readHistory } from '../../query/lists/find.js';
import type { Entry } from '../../resources/entry.js';
import { ENTRIES, findEntry } from '../../resources/resources.js';
import { notThereFault, usageFault } from '../exit.js';
import { wholeName } from './by-beginning.js';
import { BY_NAME } from './in-mirror.js';

export function demandEntry(table: string): Entry {
  const entry = findEntry(table);
  if (entry !== undefined) return entry;
  throw usageFault(
    `There is no history of "${table}".`,
    `Expected one of ${ENTRIES.map(known => known.table).join(', ')}.`,
  );
}

export async function findVersions(reader: Reader, entry: Entry, id: string): Promise<readonly Row[]> {
  const versions = await readHistory(reader, entry, id);
  if (versions.length > 0) return versions;
  const found =
    (await BY_NAME[entry.table]?.(reader, id)) ??
    (await wholeName(reader, entry, id, { from: `${entry.table}_history` }));
  if (found !== null) return await readHistory(reader, entry, found);
  throw notThereFault(`No version of "${id}" was ever in ${entry.table}.`);
}

import type { ItemEntry } from '../../resources/entry.js';
import { formatCellText } from '../../text/csv.js';
import type { Row } from './output-formats.js';

/** Formats a row as one line per column, then the row's JSON, then an empty line. */
export function formatRowSheet(row: Row): string[] {
  const width = Math.max(...Object.keys(row).map(name => name.length));
  const lines = Object.entries(row)
    .filter(([name]) => name !== 'document')
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}  ${value === null || value === undefined ? '-' : formatCellText(value)}`,
    );
  const { document } = row;
  return [...lines, ...(typeof document === 'string' ? ['', ...document.split('\n')] : []), ''];
}

/** Converts an object from the registry to a row with the columns of the mirror's table. */
export function toMirrorColumns<Item>({ key, columns }: ItemEntry<Item>, registryObject: Item): Row {
  return Object.fromEntries(
    [...key, ...columns].map(({ name, getValue }) => [name, getValue(registryObject)]),
  );
}

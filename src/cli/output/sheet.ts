import type { ItemEntry } from '../../resources/entry.js';
import type { Row } from './output.js';

/** A row as lines; its document last, as it was sent but for what a terminal obeys. */
export function sheet(row: Row): string[] {
  const width = Math.max(...Object.keys(row).map(name => name.length));
  const lines = Object.entries(row)
    .filter(([name]) => name !== 'document')
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}  ${value === null || value === undefined ? '-' : String(value)}`,
    );
  const { document } = row;
  return [...lines, ...(typeof document === 'string' ? ['', ...document.split('\n')] : []), ''];
}

/** What the registry sent, in the columns of the mirror. */
export function cellsOf<Item>({ key, columns }: ItemEntry<Item>, item: Item): Row {
  return Object.fromEntries([...key, ...columns].map(({ name, getValue: of }) => [name, of(item)]));
}

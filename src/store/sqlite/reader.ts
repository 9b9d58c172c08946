import { text as asKept } from '../../resources/columns.js';
import {
  type Given,
  type OpenReader,
  quoted,
  type Reader,
  type Statement,
  textOf,
} from '../contract/reader.js';
import type { Value } from '../contract/tables.js';
import { type Files, openBoth } from './open-both.js';
import type { Sqlite } from './open.js';

/** Both databases, read-only. */
export function openReader(files: Files): OpenReader {
  const db = openBoth(files);
  return { ...readerOf(db), close: async () => void db.close() };
}

/** Readers on a connection that is somebody else's, and on which nothing waits. */
export function readerOf(db: Sqlite): Reader {
  const prepare = <Row>(asked: Statement<Row>) => {
    const { text, values } = compile(asked);
    return db
      .prepare<unknown[], Row & Cells>(text)
      .safeIntegers()
      .bind(...values);
  };
  const reader: Omit<Reader, 'inSnapshot'> = {
    all: async asked => prepare(asked).all().map(narrow),
    stream: async function* stream(asked) {
      for (const row of prepare(asked).iterate()) yield narrow(row);
    },
    shown: asked => inMain(textOf(asked, quoted)),
  };
  const inside: Reader = { ...reader, inSnapshot: async work => await work(inside) };
  return {
    ...reader,
    inSnapshot: async work => {
      db.exec('BEGIN');
      try {
        return await work(inside);
      } finally {
        db.exec('COMMIT');
      }
    },
  };
}

const WORD = /^[a-z_]+$/;

/** Words of closed sets stand in the statement itself: SQLite finds its partial indexes by them. All else is bound. */
export function compile(asked: Statement<never>) {
  const values: Given[] = [];
  const bind = (value: Given) => (values.push(value), '?');
  const text = textOf(asked, value => {
    if (Array.isArray(value)) return `(SELECT value FROM json_each(${bind(JSON.stringify(value))}))`;
    if (typeof value !== 'string') return bind(value);
    return WORD.test(value) ? quoted(value) : bind(asKept(value));
  });
  return { text: inMain(text), values };
}

/** The mirror is the file that is open, and needs no name. */
function inMain(text: string): string {
  return text.replaceAll('mirror.', '');
}

type Cells = Record<string, Value>;

/** Read as whole integers, and handed on as numbers where these are whole too. */
function narrow<Row extends Cells>(row: Row): Row {
  const cells: Cells = row;
  for (const name in cells) {
    const cell = cells[name];
    if (typeof cell !== 'bigint') continue;
    const number = Number(cell);
    if (Number.isSafeInteger(number)) cells[name] = number;
  }
  return row;
}

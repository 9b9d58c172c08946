/** What migrations are written with: one text, and what differs between the engines. Frozen with the first release, as they are. */
export interface Dialect {
  readonly engine: 'sqlite' | 'postgres';
  readonly types: Readonly<Record<Kind, string>>;
  /** What stands before the name of a table. */
  readonly mirror: string;
  readonly inbox: string;
  readonly evidence: string;
  /** What is a word of ours, and sorts by its bytes. */
  readonly word: (text: string) => string;
  readonly bytewise: (text: string) => string;
  /** Nothing, of a type. */
  readonly none: (kind: Kind) => string;
  readonly whole: (number: string) => string;
  /** Numbers that no sum of them overflows. */
  readonly wide: (number: string) => string;
  readonly sum: (micro: string) => string;
  readonly greatest: (...numbers: readonly string[]) => string;
  readonly least: (...numbers: readonly string[]) => string;
  readonly any: (condition: string) => string;
  readonly now: string;
  readonly nowSeconds: string;
  readonly seconds: (instant: string) => string;
  readonly year: (instant: string) => string;
  readonly month: (instant: string) => string;
  /** The four digits that end a serialization. */
  readonly lastYear: (serialization: string) => string;
  /** Millionths out of the registry's own digits, where these are all there is to it. */
  readonly microOf: (exact: string, micro: string) => string;
  /** The cells of a row as `past` keeps them. */
  readonly cells: (alias: string, columns: Columns) => string;
  /** One of them, as a column of its kind. */
  readonly cell: (alias: string, name: string, kind: Kind) => string;
  /** The same as a text. */
  readonly object: (alias: string, columns: Columns) => string;
  /** Cells as such a text, without some of them. */
  readonly shown: (cells: string, without: readonly string[]) => string;
  /** The names of those of such a text that differ from other cells, in the order of `names`; null where none does. */
  readonly differ: (text: string, cells: string, names: readonly string[]) => string;
  /** An instant as people read it. */
  readonly asText: (instant: string) => string;
  readonly real: (number: string) => string;
  readonly hourAfter: (instant: string) => string;
  /** What is one, but no column says so. */
  readonly instant: (instant: string) => string;
}

/** Of a row's own numbers `counted` ones are never used twice; `large` ones may be beyond 2^53. */
export type Kind =
  | 'id'
  | 'counted'
  | 'text'
  | 'int'
  | 'large'
  | 'real'
  | 'instant'
  | 'json'
  | 'cells'
  | 'bytes';
/** Its kind, what it means, and what follows its type in SQL. */
export type Column = readonly [kind: Kind, meaning: string, more?: string];
export type Columns = Readonly<Record<string, Column>>;
/** Of a view: it is always there. */
export const SURE = 'NOT NULL';
export type TextOf = (dialect: Dialect) => string;

/** A table or a view, as in `mirror.retirements`. */
export interface Relation<N extends string = string, C extends Columns = Columns> {
  readonly kind: 'table' | 'view';
  readonly name: N;
  readonly meaning: string;
  readonly columns: C;
}

/** What a migration is made of: its text, and what comes into being by it. */
export interface Part<R extends Relation = Relation> {
  readonly textOf: TextOf;
  readonly relations: readonly R[];
}

export function raw(textOf: TextOf): Part<never> {
  return { textOf, relations: [] };
}

export const SQLITE: Dialect = {
  engine: 'sqlite',
  types: {
    id: 'INTEGER PRIMARY KEY',
    counted: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    text: 'TEXT',
    int: 'INTEGER',
    large: 'INTEGER',
    real: 'REAL',
    instant: 'TEXT',
    json: 'TEXT',
    cells: 'TEXT',
    bytes: 'BLOB',
  },
  mirror: '',
  inbox: '',
  evidence: '',
  word: text => `'${text}'`,
  bytewise: text => text,
  none: () => 'NULL',
  whole: number => `CAST(${number} AS INTEGER)`,
  wide: number => number,
  sum: micro => `(coalesce(sum(${micro} / 1000000), 0) * 1000000 + coalesce(sum(${micro} % 1000000), 0))`,
  greatest: (...numbers) => `max(${numbers.join(', ')})`,
  least: (...numbers) => `min(${numbers.join(', ')})`,
  any: condition => `max(${condition})`,
  now: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
  nowSeconds: "unixepoch('now')",
  seconds: instant => `unixepoch(${instant})`,
  year: instant => `substr(${instant}, 1, 4)`,
  month: instant => `substr(${instant}, 1, 7)`,
  lastYear: text => `CASE WHEN ${text} GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(${text}, -4) END`,
  microOf: (exact, micro) => {
    const point = `instr(${exact}, '.')`;
    const fraction = `substr(substr(${exact}, ${point} + 1) || '000000', 1, 6)`;
    const digits = `CASE WHEN ${point} = 0 THEN ${exact} || '000000' ELSE substr(${exact}, 1, ${point} - 1) || ${fraction} END`;
    return `CASE WHEN ${micro} IS NOT NULL AND ${exact} GLOB '[0-9]*' AND ${exact} NOT GLOB '*[^0-9.]*' THEN CAST(${digits} AS INTEGER) ELSE ${micro} END`;
  },
  cells: (alias, columns) =>
    `json_object(${cellNames(columns)
      .map(name => `'${name}', ${alias}.${name}`)
      .join(', ')})`,
  cell: (alias, name, kind) => `CAST(json_extract(${alias}.cells, '$.${name}') AS ${SQLITE.types[kind]})`,
  shown: (cells, without) => `json_remove(${[cells, ...without.map(name => `'$.${name}'`)].join(', ')})`,
  object: (alias, columns) => SQLITE.cells(alias, columns),
  differ: (text, cells, names) =>
    `(SELECT group_concat(key, ',') FROM (SELECT e.key FROM json_each(${text}) AS e WHERE e.value IS NOT json_extract(${cells}, '$.' || e.key) ORDER BY instr(',${names.join(',')},', ',' || e.key || ',')))`,
  asText: instant => instant,
  real: number => number,
  hourAfter: instant => `strftime('%Y-%m-%dT%H:%M:%fZ', ${instant}, '+1 hour')`,
  instant: instant => instant,
};

const COLLATED = 'COLLATE "C"';
const utc = (instant: string, form: string) => `to_char(${instant} AT TIME ZONE 'UTC', '${form}')`;
/** PostgreSQL has no year 0, and calls it 1 before Christ. */
const yearIn = (instant: string) =>
  `CASE WHEN ${instant} < '0001-01-01 00:00:00+00' THEN '0000' ELSE ${utc(instant, 'YYYY')} END`;

const cellOfRow = (alias: string, name: string, columns: Columns) =>
  columns[name]?.[0] === 'instant' ? `mirror.as_text(${alias}.${name})` : `${alias}.${name}`;

export const POSTGRES: Dialect = {
  engine: 'postgres',
  types: {
    id: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    counted: 'bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
    text: `text ${COLLATED}`,
    int: 'bigint',
    large: 'bigint',
    real: 'double precision',
    instant: 'timestamptz(3)',
    json: `text ${COLLATED}`,
    cells: 'jsonb',
    bytes: 'bytea',
  },
  mirror: 'mirror.',
  inbox: 'inbox.',
  evidence: 'evidence.',
  word: text => `'${text}'::text ${COLLATED}`,
  bytewise: text => `${text} ${COLLATED}`,
  none: kind => `NULL::${POSTGRES.types[kind].replace(` ${COLLATED}`, '')}`,
  whole: number => `(${number})::bigint`,
  wide: number => `${number}::numeric`,
  sum: micro => `coalesce(sum(${micro}), 0)`,
  greatest: (...numbers) => `greatest(${numbers.join(', ')})`,
  least: (...numbers) => `least(${numbers.join(', ')})`,
  any: condition => `bool_or(${condition})`,
  now: 'now()',
  nowSeconds: 'floor(extract(epoch FROM statement_timestamp()))::bigint',
  seconds: instant => `floor(extract(epoch FROM ${instant}))::bigint`,
  year: instant => `(${yearIn(instant)}) ${COLLATED}`,
  month: instant => `(${yearIn(instant)} || ${utc(instant, '-MM')}) ${COLLATED}`,
  lastYear: text => `substring(${text} from '-([0-9]{4})$')`,
  microOf: (exact, micro) =>
    `CASE WHEN ${micro} IS NOT NULL AND ${exact} ~ '^[0-9]{1,13}([.][0-9]*)?$' THEN (${exact}::numeric * 1000000)::bigint ELSE ${micro} END`,
  cells: (alias, columns) =>
    `jsonb_build_object(${cellNames(columns)
      .map(name => `'${name}', ${cellOfRow(alias, name, columns)}`)
      .join(', ')})`,
  cell: (alias, name, kind) => {
    const text = `(${alias}.cells ->> '${name}')`;
    if (kind === 'text' || kind === 'json') return `${text} ${COLLATED}`;
    return kind === 'instant'
      ? `mirror.as_instant(${text})::timestamptz(3)`
      : `${text}::${POSTGRES.types[kind]}`;
  },
  object: (alias, columns) =>
    `(SELECT row_to_json(o)::text ${COLLATED} FROM (SELECT ${cellNames(columns)
      .map(name => `${cellOfRow(alias, name, columns)} AS ${name}`)
      .join(', ')}) AS o)`,
  shown: (cells, without) =>
    `(SELECT '{' || string_agg('"' || e.key || '":' || e.value::text, ',') || '}' FROM jsonb_each(${cells} - '{${without.join(',')}}'::text[]) AS e) ${COLLATED}`,
  differ: (text, cells, names) =>
    `(SELECT string_agg(e.key, ',' ORDER BY array_position('{${names.join(',')}}'::text[], e.key)) FROM jsonb_each(${text}::jsonb) AS e WHERE e.value IS DISTINCT FROM ${cells} -> e.key) ${COLLATED}`,
  asText: instant => `mirror.as_text(${instant})`,
  real: number => `${number}::double precision`,
  hourAfter: instant => `${instant} + interval '1 hour'`,
  instant: instant => `${instant}::timestamptz(3)`,
};

interface TableOptions {
  readonly rules?: readonly string[];
  /** Without a number of its own for each row, where the engine would give one. */
  readonly isSmall?: boolean;
  /** How PostgreSQL keeps its rows. */
  readonly storage?: string;
}

/** Comments stand in the words of SQLite, and beside those of PostgreSQL. */
export function table<const N extends string, const C extends Columns>(
  name: N,
  meaning: string,
  columns: C,
  { rules = [], isSmall = false, storage }: TableOptions = {},
): Part<Relation<N, C>> {
  const textOf: TextOf = dialect => {
    const cells = Object.entries(columns).map(([column, each]) => ({
      text: cellOf(dialect, column, each),
      meaning: each[1],
    }));
    const lines = [...cells, ...rules.map(text => ({ text, meaning: null }))];
    const body = lines.map(({ text, meaning: words }, place) => {
      const comma = place < lines.length - 1 ? ',' : '';
      return `  ${text}${comma}${words === null || dialect.engine === 'postgres' ? '' : ` -- ${words}`}`;
    });
    const made = `CREATE TABLE ${nameIn(dialect, name)} (\n${body.join('\n')}\n)`;
    if (dialect.engine === 'sqlite')
      return `-- ${meaning}\n${made} STRICT${isSmall ? ', WITHOUT ROWID' : ''};\n`;
    const kept = storage === undefined ? '' : ` WITH (${storage})`;
    return `${made}${kept};\n${comments('TABLE', nameIn(dialect, name), meaning, columns)}`;
  };
  return { textOf, relations: [{ kind: 'table', name, meaning, columns }] };
}

function cellOf({ types, engine }: Dialect, name: string, [kind, , more]: Column): string {
  const isJson = engine === 'sqlite' ? `json_valid(${name})` : `${name}::json IS NOT NULL`;
  const words = [types[kind], more, kind === 'json' ? `CHECK (${isJson})` : undefined];
  return [name, ...words.filter(word => word !== undefined)].join(' ');
}

export function index(name: string, on: string, columns: string, where?: string): Part<never> {
  const kind = name.startsWith('unique ') ? 'UNIQUE INDEX' : 'INDEX';
  const rest = where === undefined ? '' : ` WHERE ${where}`;
  return raw(
    dialect =>
      `CREATE ${kind} ${name.replace('unique ', '')} ON ${nameIn(dialect, on)} (${columns})${rest};\n`,
  );
}

/** Its columns in their order, and what is asked. */
export function view<const N extends string, const C extends Columns>(
  name: N,
  meaning: string,
  columns: C,
  select: TextOf,
): Part<Relation<N, C>> {
  const names = Object.keys(columns);
  const lines = Object.entries(columns).map(
    ([column, [, words]], place) => `  ${column}${place < names.length - 1 ? ',' : ''} -- ${words}`,
  );
  const textOf: TextOf = dialect => {
    const made = `CREATE VIEW ${nameIn(dialect, name)}`;
    const asked = `AS\n${select(dialect)};\n`;
    if (dialect.engine === 'sqlite') return `-- ${meaning}\n${made} (\n${lines.join('\n')}\n) ${asked}`;
    return `${made} (${names.join(', ')}) ${asked}${comments('VIEW', nameIn(dialect, name), meaning, columns)}`;
  };
  return { textOf, relations: [{ kind: 'view', name, meaning, columns }] };
}

/** What is mirrored: a table of what is true now, and the view `_history` of that and what `past` has of it. */
export interface Mirrored {
  readonly table: string;
  /** Its word in `syncs`. */
  readonly resource: string;
  readonly meaning: string;
  /** The column that says whose a row is; null where it is nobody's. */
  readonly owner: string | null;
  /** The columns by which a row is known. */
  readonly key: readonly string[];
  readonly columns: Columns;
  /** Rules of its table beside that. */
  readonly rules?: readonly string[];
  /** What `changes` shows of it, and of which rows, where that is not all. */
  readonly shows?: readonly string[];
  readonly only?: string;
  readonly history?: string;
  /** What stands in every version of it, where that is not what stands in others. */
  readonly dated?: Columns;
}

export const VERSION = {
  version: ['int', 'number of this version; rises over all tables and is never used twice', 'PRIMARY KEY'],
} as const satisfies Columns;

export const DATED = {
  valid_from: [
    'instant',
    'when the answer that showed this version had arrived; the registry may have changed earlier',
    'NOT NULL',
  ],
  sync_id: ['int', 'the sync that wrote it; old syncs are removed in time', 'NOT NULL'],
  document: ['text', "the registry's whole object as sent", 'NOT NULL'],
} as const satisfies Columns;

export const ENDED_IN_HISTORY = {
  valid_to: ['instant', 'null where it is still true; else it was true before, not at, this instant'],
  closed_by: ['int', 'the sync that closed it; null where it is still true'],
  closed_version: [
    'int',
    'number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone; null where it is still true',
  ],
} as const satisfies Columns;

const AS_OF = 'As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).';

export function mirrored(entry: Mirrored): Part {
  const { table: name, meaning, key, columns, rules = [], dated = DATED } = entry;
  const { history = `Every version of ${name}, past and present. ${AS_OF}` } = entry;
  const now: Columns = { ...VERSION, ...columns, ...dated };
  const all = inOrder({ ...now, ...ENDED_IN_HISTORY });
  const select = (dialect: Dialect) => {
    const were = Object.keys(all).map(column =>
      column in columns ? wasIn(dialect, entry, column) : `p.${column}`,
    );
    const are = Object.entries(all).map(([column, [kind]]) => (column in now ? column : dialect.none(kind)));
    return `SELECT ${were.join(', ')}
FROM ${dialect.mirror}past AS p WHERE p.resource = '${entry.resource}'${entry.owner === null ? ' AND p.organization_id IS NULL' : ''}
UNION ALL
SELECT ${are.join(', ')}
FROM ${dialect.mirror}${name}`;
  };
  return joined([
    table(`mirror.${name}`, meaning, now, { rules: [`UNIQUE (${key.join(', ')})`, ...rules] }),
    view(`mirror.${name}_history`, history, all, select),
  ]);
}

/** The column by which a person names a row. */
export function nameOf({ key }: Pick<Mirrored, 'key'>): string {
  return key.find(name => name !== 'organization_id') ?? 'id';
}

/** What `past` keeps in the cells of a row: whose it is stands beside them. */
export function cellsOf({ columns, key }: Pick<Mirrored, 'columns' | 'key'>): Columns {
  return Object.fromEntries(
    Object.entries(columns).filter(([name]) => name !== 'organization_id' || !key.includes(name)),
  );
}

/** A column of a row that stands in `past` as `p`. A row is found by what stands beside its cells. */
export function wasIn(
  dialect: Dialect,
  entry: Pick<Mirrored, 'columns' | 'key'>,
  column: string,
  alias = 'p',
): string {
  if (column === nameOf(entry)) return `${alias}.key`;
  const kind = cellsOf(entry)[column]?.[0];
  return kind === undefined ? `${alias}.${column}` : dialect.cell(alias, column, kind);
}

/** As PostgreSQL has the names of an object: both engines make the same text of it. */
function cellNames(columns: Columns): string[] {
  return Object.keys(columns).toSorted((one, other) => one.length - other.length || (one < other ? -1 : 1));
}

export function joined(parts: readonly Part[]): Part {
  return {
    textOf: dialect => parts.map(({ textOf }) => textOf(dialect)).join('\n'),
    relations: parts.flatMap(({ relations }) => relations),
  };
}

const LAST = ['valid_from', 'valid_to', 'sync_id', 'closed_by', 'document', 'closed_version'];

/** A beginning stands beside its end. */
function inOrder(columns: Columns): Columns {
  const own = Object.entries(columns).filter(([name]) => !LAST.includes(name));
  const rest = LAST.flatMap(name => {
    const column = columns[name];
    return column === undefined ? [] : [[name, column] as const];
  });
  return Object.fromEntries([...own, ...rest]);
}

/** As in `mirror.retirements`. */
function nameIn(dialect: Dialect, name: string): string {
  const [family, kept = ''] = name.split('.');
  if (family === 'evidence') return `${dialect.evidence}${kept}`;
  return `${family === 'inbox' ? dialect.inbox : dialect.mirror}${kept}`;
}

function comments(kind: 'TABLE' | 'VIEW', name: string, meaning: string, columns: Columns): string {
  const say = (of: string, words: string) => `COMMENT ON ${of} IS '${words.replaceAll("'", "''")}';\n`;
  const each = Object.entries(columns).map(([column, [, words]]) => say(`COLUMN ${name}.${column}`, words));
  return [say(`${kind} ${name}`, meaning), ...each].join('');
}

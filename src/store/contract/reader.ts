import {
  type CompiledQuery,
  createQueryId,
  type Expression,
  type IdentifierNode,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
  type QueryCompiler,
  type RawBuilder,
  type RootOperationNode,
  type SchemableIdentifierNode,
} from 'kysely';

/** How many rows a stream fetches at once. */
export const STREAM_CHUNK_ROWS = 100;

/** A query of the builder, or an `sql` template with a `select` list. `Row` is the type of its rows. */
export type Query<Row> = { toOperationNode: () => RootOperationNode } & Expression<Row>;

/**
 * Reads the databases `mirror` and `inbox`. Returns an integer as a number, or as a bigint if it is too large for one. Searches
 * for a text with a NUL or a lone surrogate in the form in which it was stored.
 */
export interface Reader {
  /** Runs a query and returns all rows. */
  readonly all: <Row>(query: Query<Row>) => Promise<Row[]>;
  /** Runs a query and returns its rows one by one, as the database sends them. */
  readonly stream: <Row>(query: Query<Row>) => AsyncIterable<Row>;
  /** Runs several queries on one snapshot of the data. A snapshot within a snapshot has the same data. */
  readonly inSnapshot: <T>(work: (reader: Reader) => Promise<T>) => Promise<T>;
  /** Formats a query as SQL text that people can run. */
  readonly formatQuery: (query: Query<unknown>) => string;
  /** Converts an instant to a text in UTC, such as `2026-05-04T12:00:00.000Z`. */
  readonly asText: (instant: Expression<string>) => RawBuilder<string>;
}

export interface OpenReader extends Reader {
  close(): Promise<void>;
}

/** Compiles a query to SQL that people can read and copy: values are literals, and simple names have no quotes. */
class ReadableCompiler extends PostgresQueryCompiler {
  readonly #schemas: 'with schemas' | 'without schemas';

  constructor(schemas: 'with schemas' | 'without schemas') {
    super();
    this.#schemas = schemas;
  }

  protected override appendValue(value: unknown): void {
    this.append(toSqlLiteral(value));
  }

  protected override visitPrimitiveValueList({ values }: PrimitiveValueListNode): void {
    this.append(`(${values.map(value => toSqlLiteral(value)).join(', ') || 'NULL'})`);
  }

  /** Omits the schema `mirror` on SQLite, where it is the main database. */
  protected override visitSchemableIdentifier(node: SchemableIdentifierNode): void {
    const hasSchema = this.#schemas === 'with schemas' || node.schema?.name === 'inbox';
    if (hasSchema) super.visitSchemableIdentifier(node);
    else this.visitNode(node.identifier);
  }

  /** Writes a name without quotes if it needs none, so that people can read the SQL. */
  protected override visitIdentifier(node: IdentifierNode): void {
    if (SIMPLE_NAME.test(node.name)) this.append(node.name);
    else super.visitIdentifier(node);
  }
}

/** A name that needs no quotes. */
const SIMPLE_NAME = /^[a-z][a-z0-9_]*$/;

/** Formats a query as SQL text that people can run. */
export function formatQuery(
  query: Query<unknown>,
  schemas: 'with schemas' | 'without schemas' = 'with schemas',
): string {
  return compileQuery(new ReadableCompiler(schemas), query).sql;
}

export function compileQuery(compiler: QueryCompiler, query: Query<unknown>): CompiledQuery {
  return compiler.compileQuery(query.toOperationNode(), createQueryId());
}

/** Formats a value as an SQL literal, and an array as a list in parentheses. */
function toSqlLiteral(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return `(${value.map(toSqlLiteral).join(', ') || 'NULL'})`;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value === null) return 'NULL';
  throw new TypeError(`expected a text, a number, null or a list of them, got ${typeof value}`);
}

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

/** Rows stream in groups of so many: few enough to be small, enough to cost little each. */
export const AT_ONCE = 100;

/** A query of the builder, or an `sql` template with a `select` list. It knows the type of its rows. */
export type Query<Row> = { toOperationNode: () => RootOperationNode } & Expression<Row>;

/**
 * Reads both databases. An integer is returned as a number, or as a bigint if it is too large. A text with a NUL or a lone
 * surrogate is searched for as it was stored.
 */
export interface Reader {
  /** Runs a query and returns all rows. */
  readonly all: <Row>(query: Query<Row>) => Promise<Row[]>;
  /** Runs a query and returns its rows one by one, as the database sends them. */
  readonly stream: <Row>(query: Query<Row>) => AsyncIterable<Row>;
  /** Runs several queries on the state of one moment. A snapshot in a snapshot has the state of the outer one. */
  readonly inSnapshot: <T>(work: (reader: Reader) => Promise<T>) => Promise<T>;
  /** Returns a query as SQL that people can run. */
  readonly shown: (query: Query<unknown>) => string;
  /** Returns an instant as text in UTC, such as `2026-05-04T12:00:00.000Z`. */
  readonly asText: (instant: Expression<string>) => RawBuilder<string>;
}

/** Something with open connections. */
interface Open {
  close(): Promise<void>;
}

export interface OpenReader extends Reader, Open {}

/** Writes a query as readable SQL with its values in the text. People copy it. */
class ReadableCompiler extends PostgresQueryCompiler {
  readonly #schemas: 'with schemas' | 'without schemas';

  constructor(schemas: 'with schemas' | 'without schemas') {
    super();
    this.#schemas = schemas;
  }

  protected override appendValue(value: unknown): void {
    this.append(toLiteral(value));
  }

  protected override visitPrimitiveValueList({ values }: PrimitiveValueListNode): void {
    this.append(`(${values.map(value => toLiteral(value)).join(', ') || 'NULL'})`);
  }

  protected override visitSchemableIdentifier(node: SchemableIdentifierNode): void {
    const isNamed = this.#schemas === 'with schemas' || node.schema?.name === 'inbox';
    if (isNamed) super.visitSchemableIdentifier(node);
    else this.visitNode(node.identifier);
  }

  protected override visitIdentifier(node: IdentifierNode): void {
    if (SIMPLE_NAME.test(node.name)) this.append(node.name);
    else super.visitIdentifier(node);
  }
}

/** A name that needs no quotes. */
const SIMPLE_NAME = /^[a-z][a-z0-9_]*$/;

/** Returns a query as SQL that people can run. */
export function formatQuery(
  query: Query<unknown>,
  schemas: 'with schemas' | 'without schemas' = 'with schemas',
): string {
  return compileQuery(new ReadableCompiler(schemas), query).sql;
}

export function compileQuery(compiler: QueryCompiler, query: Query<unknown>): CompiledQuery {
  return compiler.compileQuery(query.toOperationNode(), createQueryId());
}

function toLiteral(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return `(${value.map(toLiteral).join(', ') || 'NULL'})`;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value === null) return 'NULL';
  throw new TypeError(`expected a text, a number, null or a list of them, got ${typeof value}`);
}

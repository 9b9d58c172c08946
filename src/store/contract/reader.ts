import {
  type CompiledQuery,
  createQueryId,
  type Expression,
  type IdentifierNode,
  OperationNodeTransformer,
  PostgresQueryCompiler,
  type PrimitiveValueListNode,
  type QueryCompiler,
  type QueryId,
  type RawBuilder,
  type RawNode,
  type RootOperationNode,
  type SchemableIdentifierNode,
} from 'kysely';

/** Rows stream in groups of so many: few enough to be small, enough to cost little each. */
export const AT_ONCE = 100;

/** What stands between the texts of a statement: many values are a table of one column, for `in`, however many there are. */
export type Given = string | number | bigint | null | Uint8Array | readonly string[] | readonly number[];

/** A statement or a part of one, for every engine: tables are named as in `mirror.syncs` and `inbox.jobs`. */
export interface Statement<Row = unknown> extends RawBuilder<unknown> {
  /** Nothing is called so: the compiler keeps here what a statement answers. */
  readonly answers: (row: Row) => void;
}

/** A query of the builder, or an `sql` template with a `select` list. It knows the type of its rows. */
export type Query<Row> = { toOperationNode: () => RootOperationNode } & Expression<Row>;

/** Runs a query and returns all rows. */
interface ReadAll {
  <Row>(statement: Statement<Row>): Promise<Row[]>;
  <Row>(query: Query<Row>): Promise<Row[]>;
  <Row>(query: Statement<Row> | Query<Row>): Promise<Row[]>;
}

/** Runs a query and returns its rows one by one, as the database sends them. */
interface ReadStream {
  <Row>(statement: Statement<Row>): AsyncIterable<Row>;
  <Row>(query: Query<Row>): AsyncIterable<Row>;
  <Row>(query: Statement<Row> | Query<Row>): AsyncIterable<Row>;
}

/**
 * Where readers ask both databases. An integer comes as a number, and as a bigint only where no number holds it. A text that
 * no row can hold, with a NUL or a lone surrogate, is asked for as it was kept.
 */
export interface Reader {
  readonly all: ReadAll;
  readonly stream: ReadStream;
  /** Whatever is asked in it was true at one moment; what is asked in one inside another, at that one's. */
  readonly inSnapshot: <T>(work: (reader: Reader) => Promise<T>) => Promise<T>;
  /** As a person may ask the same. */
  readonly shown: (asked: Query<unknown>) => string;
}

/** What holds connections. */
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
    this.append(quoted(value));
  }

  protected override visitPrimitiveValueList({ values }: PrimitiveValueListNode): void {
    this.append(`(${values.map(value => quoted(value)).join(', ') || 'NULL'})`);
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

export function shown(
  statement: Query<unknown>,
  { schemas = 'with schemas', editText }: ShownOptions = {},
): string {
  return compileBy(new ReadableCompiler(schemas), statement, editText).sql;
}

interface ShownOptions {
  readonly schemas?: 'with schemas' | 'without schemas';
  readonly editText?: (text: string) => string;
}

/** Compiles a statement. `editText` is given the statement's own text, never a value. */
export function compileBy(
  compiler: QueryCompiler,
  statement: Query<unknown>,
  editText?: (text: string) => string,
): CompiledQuery {
  const node = statement.toOperationNode();
  const edited = editText === undefined ? node : new TextEditor(editText).transformNode(node);
  return compiler.compileQuery(edited, createQueryId());
}

class TextEditor extends OperationNodeTransformer {
  readonly #editText: (text: string) => string;

  constructor(editText: (text: string) => string) {
    super();
    this.#editText = editText;
  }

  protected override transformRaw(node: RawNode, queryId?: QueryId): RawNode {
    const { sqlFragments, ...raw } = super.transformRaw(node, queryId);
    return { ...raw, sqlFragments: sqlFragments.map(text => this.#editText(text)) };
  }
}

function quoted(value: unknown): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return `(${value.map(quoted).join(', ') || 'NULL'})`;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value === null) return 'NULL';
  throw new TypeError(`expected a text, a number, null or a list of them, got ${typeof value}`);
}

import {
  type CompiledQuery,
  createQueryId,
  OperationNodeTransformer,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryId,
  type RawBuilder,
  type RawNode,
} from 'kysely';

/** Rows stream in groups of so many: few enough to be small, enough to cost little each. */
export const AT_ONCE = 100;

/** What stands between the texts of a statement: many values are a table of one column, for `in`, however many there are. */
export type Given = string | number | bigint | null | Uint8Array | readonly string[] | readonly number[];

/** A statement or a part of one, for every engine: tables are named as in `mirror.syncs` and `inbox.jobs`. */
export interface Statement<Row = unknown> extends RawBuilder<unknown> {
  /** Nothing is called so: the compiler keeps here what a statement answers. */
  readonly answers?: (row: Row) => void;
}

/**
 * Where readers ask both databases. An integer comes as a number, and as a bigint only where no number holds it. A text that
 * no row can hold, with a NUL or a lone surrogate, is asked for as it was kept.
 */
export interface Reader {
  readonly all: <Row>(asked: Statement<Row>) => Promise<Row[]>;
  readonly stream: <Row>(asked: Statement<Row>) => AsyncIterable<Row>;
  /** Whatever is asked in it was true at one moment; what is asked in one inside another, at that one's. */
  readonly inSnapshot: <T>(work: (reader: Reader) => Promise<T>) => Promise<T>;
  /** As a person may ask the same. */
  readonly shown: (asked: Statement<never>) => string;
}

/** What holds connections. */
interface Open {
  close(): Promise<void>;
}

export interface OpenReader extends Reader, Open {}

/** As it stands in SQL that is shown, and run by nobody but whoever takes it up. */
class ShownCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: Given): void {
    this.append(quoted(value));
  }
}

export function shown(statement: Statement<never>, editText?: (text: string) => string): string {
  return compileBy(new ShownCompiler(), statement, editText).sql;
}

/** Compiles a statement. `editText` is given the statement's own text, never a value. */
export function compileBy(
  compiler: QueryCompiler,
  statement: Statement<never>,
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

function quoted(value: Given): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (Array.isArray(value)) return `(${value.map(quoted).join(', ') || 'NULL'})`;
  return value === null ? 'NULL' : String(value);
}

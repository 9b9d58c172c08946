/** Answers as JSON and CSV. The notes are data in both. */
import { formatPlainTonnes } from '../../text/tonnes.js';
import type { Answer, AnswerNotes, TypeAmount } from './answer.js';
import { formatCaveatCell } from './caveat.js';
import { toGapData } from './gap.js';

/** The column of a CSV file that says how complete the rows are. */
export const CAVEATS_COLUMN = 'caveats';

/** Returns a value as JSON. Integers beyond 2^53 become texts, because many parsers would round them. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, cell: unknown) => (typeof cell === 'bigint' ? String(cell) : cell));
}

/** Yields the parts of a JSON object with the rows first, so that any number of rows can stream. `more` has further fields. */
export async function* serializeAnswer<Row>(
  rows: AsyncIterable<Row>,
  notes: AnswerNotes,
  stringify: (value: unknown) => string,
  more: Readonly<Record<string, unknown>> = {},
): AsyncGenerator<string> {
  yield '{"rows": [';
  let separator = '\n';
  for await (const row of rows) {
    yield `${separator}${stringify(row)}`;
    separator = ',\n';
  }
  yield separator === '\n' ? ']' : '\n]';
  for (const [name, value] of Object.entries({ ...toNotesData(notes), ...more }))
    yield `,\n${stringify(name)}: ${stringify(value)}`;
  yield '\n}\n';
}

/** Yields the parts of one JSON object: the fields of `header`, then each answer under its name. */
export async function* serializeAnswers(
  header: object,
  answers: readonly { readonly name: string; readonly answer: Answer<unknown> }[],
  stringify: (value: unknown) => string,
): AsyncGenerator<string> {
  yield stringify(header).slice(0, -1);
  for (const { name, answer } of answers) {
    yield `,\n${stringify(name)}: `;
    const { rows, ...notes } = answer;
    yield* serializeAnswer(rows, notes, stringify);
  }
  yield '}\n';
}

/** Converts notes to plain data. Field names become snake_case, like the column names of tables. */
export function toNotesData({ at, totals, coverage, freshness, gaps, caveats }: AnswerNotes) {
  return {
    as_of: at,
    totals: totals && {
      rows: totals.rows,
      has_more: totals.hasMore,
      amounts: totals.amounts?.map(toAmountData) ?? null,
      rows_without_amount: totals.rowsWithoutAmount,
    },
    coverage,
    freshness,
    gaps: gaps.map(gap => toSnakeCaseFields(toGapData(gap))),
    caveats: caveats.map(toSnakeCaseFields),
  };
}

function toAmountData({ type, amountMicro }: TypeAmount) {
  return { type, amount_exact: formatPlainTonnes(amountMicro) };
}

/** Renames the fields of an object from camelCase to snake_case. */
function toSnakeCaseFields(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [
      name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Yields the rows of a CSV file, each with the notes of the answer in its last cell. */
export async function* withNotesCell<Row extends object>(
  rows: AsyncIterable<Row>,
  notes: Pick<AnswerNotes, 'caveats' | 'gaps'>,
): AsyncGenerator<Row & { readonly [CAVEATS_COLUMN]: string }> {
  const cell = formatNotesCell(notes);
  for await (const row of rows) yield { ...row, [CAVEATS_COLUMN]: cell };
}

/** Writes caveats and gaps as one cell of a CSV file, such as `never_read organizations=2; gap_never_read lists=3`. */
export function formatNotesCell({ caveats, gaps }: Pick<AnswerNotes, 'caveats' | 'gaps'>): string {
  const codes = new Map<string, number>();
  for (const { reason } of gaps) codes.set(reason.code, (codes.get(reason.code) ?? 0) + 1);
  const gapCells = [...codes].map(([code, lists]) => `gap_${code} lists=${lists}`);
  return [formatCaveatCell(caveats), ...gapCells].filter(cell => cell !== '').join('; ');
}

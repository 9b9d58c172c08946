/** Prints answers: rows, their total, and how complete and fresh they are. All words come from the answer. */
import type { Answer, AnswerNotes } from '../../query/answer/answer.js';
import { isUnknown } from '../../query/answer/caveat.js';
import { describeNotes } from '../../query/answer/describe.js';
import { describeGap } from '../../query/answer/gap.js';
import { CAVEATS_COLUMN, serializeAnswer, withNotesCell } from '../../query/answer/serialize.js';
import { describeFreshnessSum } from '../../query/freshness/words.js';
import { type Io, printLines, printNotice, streamStdout } from '../io.js';
import { type OutputFormat, printRows, type Row, toJson } from './output-formats.js';
import type { TableShape } from './table.js';

/** How an answer is printed as a table or as CSV. */
export interface AnswerShape extends TableShape {
  readonly tableColumns: readonly string[];
  readonly fileColumns: readonly string[];
  /** The total of the rows, printed below a table. Null if there is none. */
  readonly total: string | null;
  /** Names one of several answers, such as `retirements`. Null if the answer is the only one. */
  readonly heading?: string | null;
}

/** Prints an answer in this format. Prints its notes to stderr for people. */
export async function printAnswer(
  io: Io,
  format: OutputFormat,
  { rows, ...notes }: Answer<Row>,
  { tableColumns, fileColumns, total, heading = null, ...shape }: AnswerShape,
): Promise<void> {
  if (format === 'json') await streamStdout(io, serializeAnswer(rows, notes, toJson));
  else if (format === 'csv')
    await printRows(io, format, [...fileColumns, CAVEATS_COLUMN], withNotesCell(rows, notes), shape);
  else {
    if (heading !== null) await printLines(io, formatHeading(heading, notes));
    await printRows(io, format, tableColumns, rows, shape);
    if (total !== null) await printLines(io, '', total);
    if (heading !== null) await printLines(io, '');
  }
  printAnswerNotes(io, notes, heading);
}

/** Prints to stderr what a reader must know. `heading` names one of several answers. */
export function printAnswerNotes(io: Io, notes: AnswerNotes, heading: string | null = null): void {
  printNotice(io, ...formatAnswerNotes(notes, heading));
}

function formatHeading(heading: string, { at }: AnswerNotes): string {
  return `${heading}${at === null ? '' : ` as of ${at}`}:`;
}

/** Returns one line for each thing that a reader must know. A complete and fresh answer needs none. */
function formatAnswerNotes(
  { at, gaps, coverage, freshness, caveats }: AnswerNotes,
  heading: string | null,
): string[] {
  const sentences = [
    ...freshness.map(describeFreshnessSum).filter(line => line !== null),
    // The command ends with the sentence that nothing is known.
    ...describeNotes({ coverage, caveats: caveats.filter(caveat => !isUnknown(caveat)) }),
  ];
  return [
    // A heading says the instant.
    ...(at === null || heading !== null ? [] : [`As observed by ${at}.`]),
    ...gaps.map(describeGap),
    ...sentences.map(line => (heading === null ? line : `${heading}: ${line}`)),
  ];
}

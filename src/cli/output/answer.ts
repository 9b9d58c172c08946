/** Prints answers: rows, their total, and how complete and fresh they are. All words come from the answer. */
import type { Answer, AnswerNotes } from '../../query/answer/answer.js';
import { isUnknown } from '../../query/answer/caveat.js';
import { describeGaps, describeNotes, describeUnknown } from '../../query/answer/describe-notes.js';
import { CAVEATS_COLUMN, serializeAnswer, withNotesCell } from '../../query/answer/serialize.js';
import { createCheckError } from '../command-error.js';
import { type Io, printLines, printNotice, streamStdout } from '../io.js';
import { type OutputFormat, printRows, type Row, toJson } from './output-formats.js';
import type { TableShape } from './table.js';

/** Advice for a person if nothing is known of a list. */
export const UNKNOWN_ADVICE =
  'The mirror only knows a list from its first complete read until its last. See "carbon-mirror status".';

/** How an answer is printed as a table or as CSV. */
export interface AnswerShape extends TableShape {
  readonly tableColumns: readonly string[];
  readonly fileColumns: readonly string[];
  /** The total of the rows, printed below a table on one or more lines. Null if there is none. */
  readonly total: string | null;
  /** Names one of several answers, such as `retirements`. Null if the answer is the only one. */
  readonly heading?: string | null;
}

/** Prints an answer in this format to stdout. Also prints its notes to stderr, where a person sees them. */
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
    if (total !== null) await printLines(io, '', ...total.split('\n'));
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
function formatAnswerNotes(notes: AnswerNotes, heading: string | null): string[] {
  // The command ends with the sentence that nothing is known.
  const caveats = notes.caveats.filter(caveat => !isUnknown(caveat));
  const sentences = describeNotes({ ...notes, gaps: [], caveats });
  return [
    // A heading says the instant.
    ...(notes.at === null || heading !== null ? [] : [`As observed by ${notes.at}.`]),
    ...describeGaps(notes),
    ...sentences.map(line => (heading === null ? line : `${heading}: ${line}`)),
  ];
}

/**
 * Throws if all of these answers are unknown. An answer is unknown if none of its lists had been read, or none could be compared. The error
 * gives the reasons and `advice`.
 */
export function assertKnown(
  answers: readonly AnswerNotes[],
  advice: string | readonly string[] = UNKNOWN_ADVICE,
): void {
  const sentences = answers.map(describeUnknown).filter(sentence => sentence !== null);
  if (sentences.length < answers.length) return;
  throw createCheckError([...answers.flatMap(describeGaps), ...new Set(sentences)], advice);
}

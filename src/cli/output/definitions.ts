import { Help } from 'commander';
import { cleanText } from '../../text/clean-text.js';
import { usesColours, writeStdout, type Io } from '../io.js';
import { makeBold } from './colour.js';
import { COLUMN_GAP } from './fit-columns.js';

/** A name and the text that explains it. */
export type TermDefinition = readonly [name: string, text: string];

const MIN_TEXT_WIDTH = 24;

/** Prints names and explanations in two columns, like the options in a help text. */
export async function printDefinitions(
  io: Io,
  definitions: readonly TermDefinition[],
  applyStyle: (name: string) => string = makeBold,
): Promise<void> {
  const widest = Math.max(0, ...definitions.map(([name]) => name.length));
  const helpWidth = io.terminal.stdout ? io.columns + COLUMN_GAP : Number.POSITIVE_INFINITY;
  const help = Object.assign(new Help(), { helpWidth, minWidthToWrap: MIN_TEXT_WIDTH });
  for (const [name, text] of definitions) {
    const styledName = usesColours(io) && name !== '' ? applyStyle(name) : name;
    const lines = help.formatItem(styledName, widest, cleanText(text), help).split('\n');
    await writeStdout(io, lines.map(line => `${line.slice(COLUMN_GAP).trimEnd()}\n`).join(''));
  }
}

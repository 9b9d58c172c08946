import { Help } from 'commander';
import { cleanText } from '../../text/clean-text.js';
import { usesColours, writeStdout, type Io } from '../io.js';
import { bold } from './colour.js';
import { GAP } from './layout.js';

export type Definition = readonly [name: string, text: string];

const MIN_TEXT_WIDTH = 24;

/** Prints names and their texts in two columns, like the options in help. Wraps texts on a terminal only. */
export async function printDefinitions(
  io: Io,
  all: readonly Definition[],
  paint: (name: string) => string = bold,
): Promise<void> {
  const widest = Math.max(0, ...all.map(([name]) => name.length));
  const helpWidth = io.terminal.stdout ? io.columns + GAP : Number.POSITIVE_INFINITY;
  const help = Object.assign(new Help(), { helpWidth, minWidthToWrap: MIN_TEXT_WIDTH });
  for (const [name, text] of all) {
    const shown = usesColours(io) && name !== '' ? paint(name) : name;
    const lines = help.formatItem(shown, widest, cleanText(text), help).split('\n');
    await writeStdout(io, lines.map(line => `${line.slice(GAP).trimEnd()}\n`).join(''));
  }
}

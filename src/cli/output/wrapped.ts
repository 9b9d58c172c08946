import { Help } from 'commander';
import { cleanText } from '../../text/clean-text.js';
import { colours, emit, type Io } from '../io.js';
import { bold } from './colour.js';
import { GAP } from './layout.js';

/** A name and what is said of it. */
export type NamedText = readonly [name: string, text: string];

const LEAST_TEXT = 24;

/** Names on the left, texts beside them: on a terminal in lines of its width, else each in one. As help has its options, but for their indent. */
export async function writeWrapped(
  io: Io,
  all: readonly NamedText[],
  paint: (name: string) => string = bold,
): Promise<void> {
  const widest = Math.max(0, ...all.map(([name]) => name.length));
  const helpWidth = io.terminal.stdout ? io.columns + GAP : Number.POSITIVE_INFINITY;
  const help = Object.assign(new Help(), { helpWidth, minWidthToWrap: LEAST_TEXT });
  for (const [name, text] of all) {
    const shown = colours(io) && name !== '' ? paint(name) : name;
    const lines = help.formatItem(shown, widest, cleanText(text), help).split('\n');
    await emit(io, lines.map(line => `${line.slice(GAP).trimEnd()}\n`).join(''));
  }
}

import { cleanText } from '../../text/clean.js';
import { colours, emit, type Io } from '../io.js';
import { bold } from './colour.js';
import { GAP } from './layout.js';

/** A name and what is said of it. */
export type NamedText = readonly [name: string, text: string];

const LEAST_TEXT = 24;

/** Names on the left, texts beside them: on a terminal in lines of its width, else each in one. */
export async function writeWrapped(
  io: Io,
  all: readonly NamedText[],
  paint: (name: string) => string = bold,
): Promise<void> {
  const widest = Math.max(0, ...all.map(([name]) => name.length));
  const room = io.terminal.stdout ? io.columns - widest - GAP : Number.POSITIVE_INFINITY;
  const isBeside = room >= LEAST_TEXT;
  const indent = isBeside ? widest + GAP : GAP;
  for (const [name, text] of all) {
    const lines = wrap(cleanText(text), isBeside ? room : io.columns - indent);
    const shown = colours(io) && name !== '' ? paint(name) : name;
    const first = isBeside ? `${shown}${' '.repeat(indent - name.length)}${lines.shift() ?? ''}` : shown;
    await emit(
      io,
      [first, ...lines.map(line => ' '.repeat(indent) + line)].map(line => `${line.trimEnd()}\n`).join(''),
    );
  }
}

/** In lines of so many characters; a longer word has one of its own. */
function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > room) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

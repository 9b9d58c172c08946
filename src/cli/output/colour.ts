import { styleText } from 'node:util';
import { colourOf, type Colour as MeaningColour, STANDINGS, wordsOf } from '../../query/freshness/words.js';

type TerminalColour = 'bold' | 'green' | 'yellow' | 'red';

/** Matches columns whose values are states. */
const STATE_COLUMNS = /(^|_)(state|freshness|verdict)(_now)?$/;
/** Freshness is coloured by its meaning, because a fresh list whose last read failed must not be green. */
const FRESHNESS_COLOURS: Readonly<Record<MeaningColour, TerminalColour | null>> = {
  good: 'green',
  doubt: 'yellow',
  bad: 'red',
  none: null,
};
const GOOD = ['active', 'ok', 'stored', 'done', 'complete', 'accepted', 'completed', 'finished'];
const BAD = ['fail', 'failed', 'uninstalled', 'suspended', 'fault', 'ignored'];
const WAITS = ['stale', 'never_read', 'paused', 'warn', 'warning', 'unavailable'];
const COLOURS = new Map<string, TerminalColour | null>([
  ...GOOD.map(word => [word, 'green'] as const),
  ...WAITS.map(word => [word, 'yellow'] as const),
  ...BAD.map(word => [word, 'red'] as const),
  ...STANDINGS.map(standing => [wordsOf(standing), FRESHNESS_COLOURS[colourOf(standing)]] as const),
]);

export function bold(text: string): string {
  return applyStyle('bold', text);
}

/** Colours a state in a column of states. Returns any other text unchanged. */
export function paintState(column: string, text: string): string {
  const colour = STATE_COLUMNS.test(column) ? COLOURS.get(text) : undefined;
  return colour === undefined || colour === null ? text : applyStyle(colour, text);
}

const CHANGE_COLOURS = { added: 'green', changed: 'yellow', removed: 'red' } as const;

/** Colours text about an added row green, a changed one yellow, a removed one red. */
export function paintChange(change: keyof typeof CHANGE_COLOURS, text: string): string {
  return applyStyle(CHANGE_COLOURS[change], text);
}

function applyStyle(colour: TerminalColour, text: string): string {
  return styleText(colour, text, { validateStream: false });
}

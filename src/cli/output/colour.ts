import { styleText } from 'node:util';
import { colourOf, type Colour as Meant, STANDINGS, wordsOf } from '../../query/freshness/words.js';

type Colour = 'bold' | 'green' | 'yellow' | 'red';

const NAMES_OF_STATES = /(^|_)(state|freshness|verdict)(_now)?$/;
/** The words of freshness have theirs by what they mean; `fresh` by itself may stand beside a failure. */
const OF_FRESHNESS: Readonly<Record<Meant, Colour | null>> = {
  good: 'green',
  doubt: 'yellow',
  bad: 'red',
  none: null,
};
const GOOD = ['active', 'ok', 'stored', 'done', 'complete', 'accepted', 'completed', 'finished'];
const BAD = ['fail', 'failed', 'uninstalled', 'suspended', 'fault', 'ignored'];
const WAITS = ['stale', 'never_read', 'paused', 'warn', 'warning', 'unavailable'];
const COLOURS = new Map<string, Colour | null>([
  ...GOOD.map(word => [word, 'green'] as const),
  ...WAITS.map(word => [word, 'yellow'] as const),
  ...BAD.map(word => [word, 'red'] as const),
  ...STANDINGS.map(standing => [wordsOf(standing), OF_FRESHNESS[colourOf(standing)]] as const),
]);

export function bold(text: string): string {
  return styled('bold', text);
}

/** A state in the colour of what it means; anything else as it is. */
export function paintState(column: string, text: string): string {
  const colour = NAMES_OF_STATES.test(column) ? COLOURS.get(text) : undefined;
  return colour === undefined || colour === null ? text : styled(colour, text);
}

const OF_CHANGES = { added: 'green', changed: 'yellow', removed: 'red' } as const;

/** What came in green, what went in red. */
export function paintChange(change: keyof typeof OF_CHANGES, text: string): string {
  return styled(OF_CHANGES[change], text);
}

function styled(colour: Colour, text: string): string {
  return styleText(colour, text, { validateStream: false });
}

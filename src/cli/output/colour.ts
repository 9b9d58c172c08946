import { styleText } from 'node:util';

type Colour = 'bold' | 'green' | 'yellow' | 'red';

const NAMES_OF_STATES = /(^|_)(state|freshness|verdict)(_now)?$/;
const GOOD = ['active', 'current', 'ok', 'stored', 'done', 'complete', 'accepted', 'completed', 'finished'];
const BAD = ['fail', 'failing', 'failed', 'doubtful', 'uninstalled', 'suspended', 'fault', 'ignored'];
const WAITS = ['late', 'behind', 'partial', 'never_read', 'paused', 'warn', 'warning', 'unavailable'];
const COLOURS = new Map<string, Colour>([
  ...GOOD.map(word => [word, 'green'] as const),
  ...WAITS.map(word => [word, 'yellow'] as const),
  ...BAD.map(word => [word, 'red'] as const),
]);

export function bold(text: string): string {
  return styled('bold', text);
}

/** A state in the colour of what it means; anything else as it is. */
export function paintState(column: string, text: string): string {
  const colour = NAMES_OF_STATES.test(column) ? COLOURS.get(text) : undefined;
  return colour === undefined ? text : styled(colour, text);
}

function styled(colour: Colour, text: string): string {
  return styleText(colour, text, { validateStream: false });
}

import { styleText } from 'node:util';
import {
  colourOf,
  type Colour as MeaningColour,
  STANDINGS,
  wordsOf,
} from '../../query/freshness/describe-freshness.js';

type TextStyle = 'bold' | 'green' | 'yellow' | 'red';

/** The names of columns whose values are states. */
const STATE_COLUMNS = /(^|_)(state|freshness|verdict)(_now)?$/;
/** Freshness is coloured by its meaning, because a fresh list whose last read failed must not be green. */
const FRESHNESS_COLOURS: Readonly<Record<MeaningColour, TextStyle | null>> = {
  good: 'green',
  doubt: 'yellow',
  bad: 'red',
  none: null,
};
const GOOD_STATES = ['active', 'ok', 'stored', 'done', 'complete', 'accepted', 'completed', 'finished'];
const BAD_STATES = ['fail', 'failed', 'uninstalled', 'suspended', 'fault', 'ignored'];
const DOUBTFUL_STATES = ['stale', 'never_read', 'paused', 'warn', 'warning', 'unavailable'];
const STATE_COLOURS = new Map<string, TextStyle | null>([
  ...GOOD_STATES.map(state => [state, 'green'] as const),
  ...DOUBTFUL_STATES.map(state => [state, 'yellow'] as const),
  ...BAD_STATES.map(state => [state, 'red'] as const),
  ...STANDINGS.map(standing => [wordsOf(standing), FRESHNESS_COLOURS[colourOf(standing)]] as const),
]);

/** Makes text bold on a terminal. */
export function makeBold(text: string): string {
  return applyStyle('bold', text);
}

/** Colours a state by severity, such as red for `failed`. Returns text of any other column unchanged. */
export function colourState(column: string, text: string): string {
  const colour = STATE_COLUMNS.test(column) ? STATE_COLOURS.get(text) : undefined;
  return colour ? applyStyle(colour, text) : text;
}

const CHANGE_COLOURS = { added: 'green', changed: 'yellow', removed: 'red' } as const;

/** Colours text green for an added row, yellow for a changed row and red for a removed row. */
export function colourChange(change: keyof typeof CHANGE_COLOURS, text: string): string {
  return applyStyle(CHANGE_COLOURS[change], text);
}

/** Adds the terminal escape codes of a style to a text. */
function applyStyle(style: TextStyle, text: string): string {
  return styleText(style, text, { validateStream: false });
}

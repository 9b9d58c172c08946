import { withThousands } from '../../text/numbers.js';
import { html, type Html } from './html.js';

/** One value of a row of them, in the order of time. */
interface Point {
  readonly name: string;
  /** What the value is, in words. */
  readonly says: string;
  readonly value: number;
}

interface Drawn {
  /** Side by side as lengths, or as one line that begins where it says. */
  readonly as: 'bars' | 'line';
  /** What there is to see, in one sentence. */
  readonly title: string;
  readonly points: readonly Point[];
  /** What a value is called above the table. */
  readonly unit: string;
}

const WIDTH = 400;
const HEIGHT = 100;
const LEFT = 46;
const TOP = 8;
const BOTTOM = 80;
const MOST_NAMES = 4;
const MOST_DOTS = 12;

/** Values of a row of times, with a table of them beside it. */
export function chart({ as, title, points, unit }: Drawn): Html {
  const step = (WIDTH - LEFT) / Math.max(points.length, 1);
  const values = points.map(({ value }) => value);
  const ticks = ticksOf(as === 'bars' ? [0, ...values] : values);
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)];
  const x = (place: number) => px(LEFT + (place + 0.5) * step);
  const y = (value: number) => px(BOTTOM - ((BOTTOM - TOP) * (value - least)) / (most - least));
  const mark = ({ name, says, value }: Point, place: number) =>
    as === 'bars'
      ? html`<rect x="${px(x(place) - step * 0.35)}" y="${y(value)}" width="${px(step * 0.7)}" height="${px(BOTTOM - y(value))}" rx="2"><title>${name}: ${says}</title></rect>`
      : html`<circle cx="${x(place)}" cy="${y(value)}" r="${points.length < MOST_DOTS ? 3 : 1.5}"><title>${name}: ${says}</title></circle>`;
  const tick = (value: number) =>
    html`<line x1="${LEFT}" x2="${WIDTH}" y1="${y(value)}" y2="${y(value)}"/><text class="end" x="${LEFT - 6}" y="${y(value) + 4}">${short(value)}</text>`;
  const every = Math.ceil(points.length / MOST_NAMES);
  const name = (point: Point, place: number) =>
    place % every === 0 && html`<text class="middle" x="${x(place)}" y="${HEIGHT - 6}">${point.name}</text>`;
  const path = points.map(({ value }, place) => `${x(place)},${y(value)}`).join(' ');
  return html`<figure class="card"><figcaption><h2>${title}</h2></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${ticks.map(tick)}${as === 'line' && html`<polygon points="${x(0)},${BOTTOM} ${path} ${x(points.length - 1)},${BOTTOM}"/><polyline points="${path}"/>`}${points.map(mark)}${points.map(name)}</svg>
<details><summary>Show as a table</summary><dl class="facts"><dt>Period</dt><dd>${unit}</dd>${points.map(each => html`<dt>${each.name}</dt><dd>${each.says}</dd>`)}</dl></details></figure>`;
}

/** Three or four round numbers, the first below all values and the last above. */
function ticksOf(values: readonly number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const third = (most - least || most || 1) / 3;
  const size = 10 ** Math.floor(Math.log10(third));
  const step = size * ([1, 2, 5].find(each => each * size >= third) ?? 10);
  const first = Math.floor(least / step);
  const last = Math.max(Math.ceil(most / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * step);
}

function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(3))}M`;
  return value >= 1e4 ? `${Number((value / 1e3).toFixed(3))}k` : withThousands(px(value));
}

function px(value: number): number {
  return Math.round(value * 10) / 10;
}

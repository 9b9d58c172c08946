import { withThousands } from '../../text/thousands.js';
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
  const [least, most] = rangeOf(
    as,
    points.map(({ value }) => value),
  );
  const x = (place: number) => px(LEFT + (place + 0.5) * step);
  const y = (value: number) => px(BOTTOM - ((BOTTOM - TOP) * (value - least)) / (most - least || 1));
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
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${[least, (least + most) / 2, most].map(tick)}${as === 'line' && html`<polyline points="${path}"/>`}${points.map(mark)}${points.map(name)}</svg>
<details><summary>As a table</summary><dl class="facts"><dt>When</dt><dd>${unit}</dd>${points.map(each => html`<dt>${each.name}</dt><dd>${each.says}</dd>`)}</dl></details></figure>`;
}

/** Lengths begin at nothing and end at a number that is easily halved. */
function rangeOf(as: Drawn['as'], values: readonly number[]): readonly [least: number, most: number] {
  const [least, most] = [Math.min(...values), Math.max(0, ...values)];
  const margin = (most - least || most) / 4;
  if (as === 'line') return [Math.max(0, least - margin), most + margin];
  const size = 10 ** Math.floor(Math.log10(most || 1));
  return [0, ([1, 2, 4, 5, 8, 10].find(each => each * size >= most) ?? 10) * size];
}

function short(value: number): string {
  if (value >= 1e6) return `${px(value / 1e6)}M`;
  return value >= 1e4 ? `${px(value / 1e3)}k` : withThousands(px(value));
}

function px(value: number): number {
  return Math.round(value * 10) / 10;
}

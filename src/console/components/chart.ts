import { formatWithCommas } from '../../text/numbers.js';
import { html, type Html } from './html.js';

/** A value of a time series. */
interface ChartPoint {
  readonly name: string;
  /** The value as text, for the tooltip and the table. */
  readonly description: string;
  readonly value: number;
}

interface ChartOptions {
  /** Bars start at zero; the axis of a line starts near its lowest value. */
  readonly kind: 'bars' | 'line';
  /** States the finding in one sentence. */
  readonly title: string;
  readonly points: readonly ChartPoint[];
  /** Column heading of the values in the table. */
  readonly unit: string;
}

const WIDTH = 400;
const HEIGHT = 100;
const LEFT = 46;
const TOP = 8;
const BOTTOM = 80;
const MOST_NAMES = 4;
const MOST_DOTS = 12;

/** Renders a time series as an SVG chart with its values in a table. */
export function renderChart({ kind: as, title, points, unit }: ChartOptions): Html {
  const step = (WIDTH - LEFT) / Math.max(points.length, 1);
  const values = points.map(({ value }) => value);
  const ticks = computeTicks(as === 'bars' ? [0, ...values] : values);
  const [least = 0, most = 1] = [ticks[0], ticks.at(-1)];
  const x = (place: number) => roundToTenth(LEFT + (place + 0.5) * step);
  const y = (value: number) => roundToTenth(BOTTOM - ((BOTTOM - TOP) * (value - least)) / (most - least));
  const mark = ({ name, description: says, value }: ChartPoint, place: number) =>
    as === 'bars'
      ? html`<rect x="${roundToTenth(x(place) - step * 0.35)}" y="${y(value)}" width="${roundToTenth(step * 0.7)}" height="${roundToTenth(BOTTOM - y(value))}" rx="2"><title>${name}: ${says}</title></rect>`
      : html`<circle cx="${x(place)}" cy="${y(value)}" r="${points.length < MOST_DOTS ? 3 : 1.5}"><title>${name}: ${says}</title></circle>`;
  const tick = (value: number) =>
    html`<line x1="${LEFT}" x2="${WIDTH}" y1="${y(value)}" y2="${y(value)}"/><text class="end" x="${LEFT - 6}" y="${y(value) + 4}">${formatTick(value)}</text>`;
  const every = Math.ceil(points.length / MOST_NAMES);
  const name = (point: ChartPoint, place: number) =>
    place % every === 0 && html`<text class="middle" x="${x(place)}" y="${HEIGHT - 6}">${point.name}</text>`;
  const path = points.map(({ value }, place) => `${x(place)},${y(value)}`).join(' ');
  return html`<figure class="card"><figcaption><h2>${title}</h2></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${ticks.map(tick)}${as === 'line' && html`<polygon points="${x(0)},${BOTTOM} ${path} ${x(points.length - 1)},${BOTTOM}"/><polyline points="${path}"/>`}${points.map(mark)}${points.map(name)}</svg>
<details><summary>Show as a table</summary><dl class="facts"><dt>Period</dt><dd>${unit}</dd>${points.map(each => html`<dt>${each.name}</dt><dd>${each.description}</dd>`)}</dl></details></figure>`;
}

/** Returns three or four round axis values that enclose all values. */
function computeTicks(values: readonly number[]): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const third = (most - least || most || 1) / 3;
  const size = 10 ** Math.floor(Math.log10(third));
  const step = size * ([1, 2, 5].find(each => each * size >= third) ?? 10);
  const first = Math.floor(least / step);
  const last = Math.max(Math.ceil(most / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, place) => (first + place) * step);
}

function formatTick(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(3))}M`;
  return value >= 1e4 ? `${Number((value / 1e3).toFixed(3))}k` : formatWithCommas(roundToTenth(value));
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

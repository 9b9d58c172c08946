import { formatWithCommas } from '../../text/numbers.js';
import { capitalize } from './column-labels.js';
import { html, type Html } from './html.js';

/** A value of a time series. */
interface ChartPoint {
  readonly name: string;
  /** The value as text, for the tooltip and the table. */
  readonly description: string;
  readonly value: number;
}

interface ChartOptions {
  readonly kind: 'bars' | 'line';
  /** States the finding in one sentence. */
  readonly title: string;
  readonly points: readonly ChartPoint[];
  /** The quantity and unit of the values, such as `tonnes per month`. */
  readonly unit: string;
  /** The first and the last period, such as `31 Oct to 29 Nov 2026`. */
  readonly period: string;
}

const WIDTH = 400;
const HEIGHT = 100;
const LEFT = 46;
const TOP = 8;
const BOTTOM = 80;
const MAX_NAMES = 4;
const MAX_LARGE_DOTS = 12;

/** Renders a time series as an SVG chart, with a table of the values below the chart. */
export function renderChart({ kind, title, points, unit, period }: ChartOptions): Html {
  const step = (WIDTH - LEFT) / Math.max(points.length, 1);
  const values = points.map(({ value }) => value);
  // An axis that starts above zero would exaggerate changes.
  const ticks = computeAxisTicks([0, ...values]);
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const toX = (index: number) => roundToTenth(LEFT + (index + 0.5) * step);
  const toY = (value: number) =>
    roundToTenth(BOTTOM - ((BOTTOM - TOP) * (value - lowest)) / (highest - lowest));

  const renderPoint = ({ name, description, value }: ChartPoint, index: number) =>
    kind === 'bars'
      ? html`<rect x="${roundToTenth(toX(index) - step * 0.35)}" y="${toY(value)}" width="${roundToTenth(step * 0.7)}" height="${roundToTenth(BOTTOM - toY(value))}" rx="2"><title>${name}: ${description}</title></rect>`
      : html`<circle cx="${toX(index)}" cy="${toY(value)}" r="${points.length < MAX_LARGE_DOTS ? 3 : 1.5}"><title>${name}: ${description}</title></circle>`;
  const renderTick = (value: number) =>
    html`<line x1="${LEFT}" x2="${WIDTH}" y1="${toY(value)}" y2="${toY(value)}"/><text class="end" x="${LEFT - 6}" y="${toY(value) + 4}">${formatAxisTick(value)}</text>`;
  const namedEvery = Math.ceil(points.length / MAX_NAMES);
  const renderName = (point: ChartPoint, index: number) =>
    index % namedEvery === 0 &&
    html`<text class="middle" x="${toX(index)}" y="${HEIGHT - 6}">${point.name}</text>`;
  const line = points.map(({ value }, index) => `${toX(index)},${toY(value)}`).join(' ');
  const area = `${toX(0)},${BOTTOM} ${line} ${toX(points.length - 1)},${BOTTOM}`;

  return html`<figure class="card"><figcaption><h2>${title}</h2><p class="quiet">${capitalize(unit)}, ${period}</p></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${ticks.map(renderTick)}${kind === 'line' && html`<polygon points="${area}"/><polyline points="${line}"/>`}${points.map(renderPoint)}${points.map(renderName)}</svg>
<details><summary>Show as a table</summary><dl class="facts"><dt>Period</dt><dd>${capitalize(unit)}</dd>${points.map(point => html`<dt>${point.name}</dt><dd>${point.description}</dd>`)}</dl></details></figure>`;
}

/** Returns a few round tick values, such as 0, 50 and 100, that span all `values`. */
function computeAxisTicks(values: readonly number[]): number[] {
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const third = (highest - lowest || highest || 1) / 3;
  const magnitude = 10 ** Math.floor(Math.log10(third));
  const step = magnitude * ([1, 2, 5].find(factor => factor * magnitude >= third) ?? 10);
  const first = Math.floor(lowest / step);
  const last = Math.max(Math.ceil(highest / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** Formats a tick value of an axis: 25000 → "25k". */
function formatAxisTick(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toFixed(3))}M`;
  return value >= 1e4 ? `${Number((value / 1e3).toFixed(3))}k` : formatWithCommas(roundToTenth(value));
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

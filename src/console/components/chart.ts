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
const TICKS = 2;
const MOST_NAMES = 4;

/** Values side by side, as lengths. */
export function bars(drawn: Drawn): Html {
  const { points } = drawn;
  const step = (WIDTH - LEFT) / Math.max(points.length, 1);
  const y = scaleOf(0, mostOf(points));
  return chart(
    drawn,
    [0, mostOf(points)],
    points.map(
      ({ name, says, value }, index) =>
        html`<rect x="${px(LEFT + index * step + step * 0.15)}" y="${px(y(value))}" width="${px(step * 0.7)}" height="${px(BOTTOM - y(value))}" rx="2"><title>${name}: ${says}</title></rect>`,
    ),
    index => LEFT + (index + 0.5) * step,
  );
}

/** Values that follow each other, as one line; what it begins at is said beside it. */
export function line(drawn: Drawn): Html {
  const { points } = drawn;
  const x = (index: number) =>
    points.length < 2 ? (LEFT + WIDTH) / 2 : LEFT + 10 + (index * (WIDTH - LEFT - 20)) / (points.length - 1);
  const values = points.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const margin = (most - least || most) / 4;
  const range = [Math.max(0, least - margin), most + margin] as const;
  const y = scaleOf(...range);
  const at = points.map(({ value }, index) => `${px(x(index))},${px(y(value))}`);
  return chart(
    drawn,
    range,
    [
      html`<polyline points="${at.join(' ')}"/>`,
      ...points.map(
        ({ name, says, value }, index) =>
          html`<circle cx="${px(x(index))}" cy="${px(y(value))}" r="${points.length < 12 ? 3 : 1.5}"><title>${name}: ${says}</title></circle>`,
      ),
    ],
    x,
  );
}

function chart(
  { title, points, unit }: Drawn,
  [least, most]: readonly [number, number],
  marks: readonly Html[],
  x: (index: number) => number,
): Html {
  const every = Math.ceil(points.length / MOST_NAMES);
  const ticks = Array.from({ length: TICKS + 1 }, (_, tick) => least + ((most - least) * tick) / TICKS);
  const y = scaleOf(least, most);
  return html`<figure class="card"><figcaption><h2>${title}</h2></figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${ticks.map(
    tick =>
      html`<line x1="${LEFT}" x2="${WIDTH}" y1="${px(y(tick))}" y2="${px(y(tick))}"/><text class="end" x="${LEFT - 6}" y="${px(y(tick) + 4)}">${short(tick)}</text>`,
  )}${marks}${points.map(
    ({ name }, index) =>
      index % every === 0 && html`<text class="middle" x="${px(x(index))}" y="${HEIGHT - 6}">${name}</text>`,
  )}</svg>
<details><summary>As a table</summary><dl class="facts"><dt>When</dt><dd>${unit}</dd>${points.map(({ name, says }) => html`<dt>${name}</dt><dd>${says}</dd>`)}</dl></details></figure>`;
}

function mostOf(points: readonly Point[]): number {
  return roundUp(Math.max(0, ...points.map(({ value }) => value)));
}

function scaleOf(least: number, most: number): (value: number) => number {
  return value => BOTTOM - ((BOTTOM - TOP) * (value - least)) / (most - least || 1);
}

/** To a number that is easily halved. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const size = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find(each => each * size >= value) ?? 10) * size;
}

function short(value: number): string {
  if (value >= 1e6) return `${px(value / 1e6)}M`;
  return value >= 1e4 ? `${px(value / 1e3)}k` : withThousands(px(value));
}

function px(value: number): number {
  return Math.round(value * 10) / 10;
}

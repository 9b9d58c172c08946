import type { Charts, AmountPoint } from '../../query/charts.js';
import type { AnswerNotes } from '../../query/answer/answer.js';
import { describeExcludedRows } from '../../query/answer/describe-totals.js';
import { describeNotes } from '../../query/answer/describe-notes.js';
import { formatTonnes, formatCreditType } from '../../text/tonnes.js';
import { renderChart } from '../components/chart.js';
import { html, type Html } from '../components/html.js';
import { formatDay, formatMonth } from '../components/instants.js';

const MICRO_PER_TONNE = 1e6;

type StockSeries = Charts['stock'][number];

/**
 * Renders a line chart of the tonnes in the warehouses per day, for the credit type with the largest current stock. Returns empty
 * HTML if there is no stock to draw.
 */
export function renderStockChart({ stock, stockNotes }: Charts): Html {
  const [series] = stock.toSorted((one, other) => getCurrentStock(other) - getCurrentStock(one));
  const [first, last] = [series?.points[0], series?.points.at(-1)];
  if (series === undefined || first === undefined || last === undefined) return html``;
  return renderChart({
    kind: 'line',
    title: `${formatTitle(describeStock(series, first, last), stockNotes)}${describeExcludedRows([last])}`,
    unit: 'tonnes at the end of each day',
    period: [...(series.points.length > 1 ? [formatShortDay(first.name)] : []), formatDay(last.name)].join(
      ' to ',
    ),
    points: toChartPoints(series.points, formatShortDay),
  });
}

/** Formats a day without its year, such as `31 Oct`. */
function formatShortDay(day: string): string {
  return formatDay(day).replace(/ \d{4}$/, '');
}

/** Formats the title of a chart, such as `Stock of ex-post rose from 5 t to 8 t`, from its first and last points. */
function describeStock({ type, points }: StockSeries, first: AmountPoint, last: AmountPoint): string {
  const stock = `Stock of ${formatCreditType(type)}`;
  const current = `${formatTonnes(last.micro)} t`;
  if (points.length === 1) return `${stock}, recorded since today: ${current}`;
  if (last.micro === first.micro) return `${stock} stayed at ${current}`;
  const verb = last.micro > first.micro ? 'rose' : 'fell';
  return `${stock} ${verb} from ${formatTonnes(first.micro)} t to ${current}`;
}

/** Converts amounts in millionths of a tonne to chart points in tonnes. `formatPeriod` formats a day or month as a label. */
function toChartPoints(points: readonly AmountPoint[], formatPeriod: (period: string) => string) {
  return points.map(point => ({
    name: formatPeriod(point.name),
    description: `${formatTonnes(point.micro)} t${describeExcludedRows([point])}`,
    value: Number(point.micro) / MICRO_PER_TONNE,
  }));
}

/** Appends notes about missing data to the title of a chart. */
function formatTitle(title: string, notes: AnswerNotes): string {
  return [`${title}.`, ...describeNotes(notes)].join(' ').replace(/\.$/, '');
}

/** Returns the current stock of a credit type in millionths of a tonne. */
function getCurrentStock({ points }: StockSeries): number {
  return Number(points.at(-1)?.micro ?? 0n);
}

/** Renders a bar chart of the tonnes retired per month. Returns empty HTML if no retirements were ever read. */
export function renderRetirementChart({ retired, retiredNotes }: Charts): Html {
  const [largest] = retired.toSorted((one, other) => Number(other.micro - one.micro));
  const [first, last] = [retired[0], retired.at(-1)];
  if (largest === undefined || first === undefined || last === undefined) return html``;
  if (retiredNotes.coverage?.counted === 0) return html``;
  const title =
    largest.micro === 0n
      ? '0 t retired in the last twelve months'
      : `Most retired in the last twelve months: ${formatTonnes(largest.micro)} t in ${formatMonth(largest.name)}`;
  return renderChart({
    kind: 'bars',
    title: `${formatTitle(title, retiredNotes)}${describeExcludedRows(retired)}`,
    unit: 'tonnes per month of the registry date',
    period: `${formatMonth(first.name)} to ${formatMonth(last.name)}`,
    points: toChartPoints(retired, month => formatMonth(month).replace(/ 20/, ' ’')),
  });
}

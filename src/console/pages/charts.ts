import type { Charts, Point } from '../../query/charts.js';
import type { ListCoverage } from '../../query/coverage.js';
import { formatKnownOrganizations, formatWithCommas } from '../../text/numbers.js';
import { formatTonnes, formatCreditType } from '../../text/tonnes.js';
import { formatWholeTonnes } from '../components/cell.js';
import { renderChart } from '../components/chart.js';
import { html, type Html } from '../components/html.js';
import { formatDay, formatMonth, describeExcludedRows } from '../components/formats.js';

const MICRO = 1e6;

/** Renders the stock by day of the credit type with the largest stock. */
export function renderStockChart({ stock, stockCoverage }: Charts): Html {
  const [series] = stock.toSorted((one, other) => getLastMicro(other) - getLastMicro(one));
  const [first, last] = [series?.points[0], series?.points.at(-1)];
  if (series === undefined || first === undefined || last === undefined) return html``;
  const type = formatCreditType(series.type);
  const way = last.micro > first.micro ? 'rose' : last.micro < first.micro ? 'fell' : 'stayed';
  const now = `${formatWholeTonnes(last.micro)} t`;
  const title =
    series.points.length === 1
      ? `Stock of ${type}, recorded since today: ${now}`
      : `Stock of ${type} ${way === 'stayed' ? 'stayed at' : `${way} from ${formatWholeTonnes(first.micro)} t to`} ${now}`;
  const more = describeExcludedRows([last]);
  return renderChart({
    kind: 'line',
    title: `${title} (${describeCoverage(stockCoverage)})${more}`,
    unit: 'tonnes in the warehouses at the end of the day',
    points: toChartPoints(series.points, name => formatDay(name).replace(/ \d{4}$/, '')),
  });
}

function toChartPoints(points: readonly Point[], called: (name: string) => string) {
  return points.map(point => {
    const { name, micro } = point;
    return {
      name: called(name),
      description: `${formatTonnes(micro)} t${describeExcludedRows([point])}`,
      value: Number(micro) / MICRO,
    };
  });
}

/** Returns text such as `3 of the 4 known organizations, 1 of them not up to date`. */
function describeCoverage({ organizations, known, last_seen: lastSeen }: ListCoverage): string {
  const old = lastSeen === 0 ? '' : `, ${formatWithCommas(lastSeen)} of them not up to date`;
  return `${formatWithCommas(organizations)} of ${formatKnownOrganizations(known)}${old}`;
}

function getLastMicro({ points }: Charts['stock'][number]): number {
  return Number(points.at(-1)?.micro ?? 0n);
}

/** Renders the tonnes retired by month; nothing if no retirements were ever read. */
export function renderRetirementChart({ retired: points, retiredCoverage }: Charts): Html {
  const [most] = points.toSorted((one, other) => Number(other.micro - one.micro));
  if (most === undefined || retiredCoverage.organizations === 0) return html``;
  const title =
    most.micro === 0n
      ? '0 t retired in the last twelve months'
      : `Most retired in the last twelve months: ${formatWholeTonnes(most.micro)} t in ${formatMonth(most.name)}`;
  const more = describeExcludedRows(points);
  return renderChart({
    kind: 'bars',
    title: `${title} (${describeCoverage(retiredCoverage)})${more}`,
    unit: 'tonnes retired in the month (registry dates)',
    points: toChartPoints(points, name => formatMonth(name).replace(/ 20/, ' ’')),
  });
}

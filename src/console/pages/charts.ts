import type { Charts, Point } from '../../query/charts.js';
import type { ListCoverage } from '../../query/coverage.js';
import { formatKnownOrganizations, withThousands } from '../../text/numbers.js';
import { formatTonnes, creditTypeName } from '../../text/tonnes.js';
import { wholeTonnes } from '../components/cell.js';
import { chart } from '../components/chart.js';
import { html, type Html } from '../components/html.js';
import { dayWords, monthWords, outOf } from '../components/words.js';

const MICRO = 1e6;

/** Draws the type with the largest stock. */
export function stockByDay({ stock, stockCoverage }: Charts): Html {
  const [series] = stock.toSorted((one, other) => lastOf(other) - lastOf(one));
  const [first, last] = [series?.points[0], series?.points.at(-1)];
  if (series === undefined || first === undefined || last === undefined) return html``;
  const type = creditTypeName(series.type);
  const way = last.micro > first.micro ? 'rose' : last.micro < first.micro ? 'fell' : 'stayed';
  const now = `${wholeTonnes(last.micro)} t`;
  const title =
    series.points.length === 1
      ? `Stock of ${type}, recorded since today: ${now}`
      : `Stock of ${type} ${way === 'stayed' ? 'stayed at' : `${way} from ${wholeTonnes(first.micro)} t to`} ${now}`;
  const more = outOf([last]);
  return chart({
    as: 'line',
    title: `${title} (${coverageWords(stockCoverage)})${more}`,
    unit: 'tonnes in the warehouses at the end of the day',
    points: drawn(series.points, name => dayWords(name).replace(/ \d{4}$/, '')),
  });
}

function drawn(points: readonly Point[], called: (name: string) => string) {
  return points.map(point => {
    const { name, micro } = point;
    return {
      name: called(name),
      says: `${formatTonnes(micro)} t${outOf([point])}`,
      value: Number(micro) / MICRO,
    };
  });
}

/** `3 of the 4 known organizations, 1 of them not up to date` */
function coverageWords({ organizations, known, last_seen: lastSeen }: ListCoverage): string {
  const old = lastSeen === 0 ? '' : `, ${withThousands(lastSeen)} of them not up to date`;
  return `${withThousands(organizations)} of ${formatKnownOrganizations(known)}${old}`;
}

function lastOf({ points }: Charts['stock'][number]): number {
  return Number(points.at(-1)?.micro ?? 0n);
}

/** Draws nothing where no retirements were ever read. */
export function retiredByMonth({ retired: points, retiredCoverage }: Charts): Html {
  const [most] = points.toSorted((one, other) => Number(other.micro - one.micro));
  if (most === undefined || retiredCoverage.organizations === 0) return html``;
  const title =
    most.micro === 0n
      ? '0 t retired in the last twelve months'
      : `Most retired in the last twelve months: ${wholeTonnes(most.micro)} t in ${monthWords(most.name)}`;
  const more = outOf(points);
  return chart({
    as: 'bars',
    title: `${title} (${coverageWords(retiredCoverage)})${more}`,
    unit: 'tonnes retired in the month (registry dates)',
    points: drawn(points, name => monthWords(name).replace(/ 20/, ' ’')),
  });
}

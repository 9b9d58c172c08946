import type { Point, Series } from '../../query/charts.js';
import { tonnesOf, typeName } from '../../text/tonnes.js';
import { wholeTonnes } from '../components/cell.js';
import { chart } from '../components/chart.js';
import { html, type Html } from '../components/html.js';
import { dayWords, monthWords, outOf } from '../components/words.js';

const MICRO = 1e6;

/** One line for each type: the issued one first. */
export function stockByDay(all: readonly Series[]): Html {
  const [series] = all.toSorted((one, other) => lastOf(other) - lastOf(one));
  const [first, last] = [series?.points[0], series?.points.at(-1)];
  if (series === undefined || first === undefined || last === undefined) return html``;
  const type = typeName(series.type);
  const way = last.micro > first.micro ? 'rose' : last.micro < first.micro ? 'fell' : 'stayed';
  const now = `${wholeTonnes(last.micro)} t`;
  const title =
    series.points.length === 1
      ? `Stock of ${type}, known since today: ${now}`
      : `Stock of ${type} ${way === 'stayed' ? 'stayed at' : `${way} from ${wholeTonnes(first.micro)} t to`} ${now}`;
  const more = outOf([last]);
  return chart({
    as: 'line',
    title: `${title}${more}`,
    unit: 'tonnes in the warehouses at the end of the day',
    points: drawn(series.points, name => dayWords(name).replace(/ \d{4}$/, '')),
  });
}

function drawn(points: readonly Point[], called: (name: string) => string) {
  return points.map(point => {
    const { name, micro } = point;
    return {
      name: called(name),
      says: `${tonnesOf(micro)} t${outOf([point])}`,
      value: Number(micro) / MICRO,
    };
  });
}

function lastOf({ points }: Series): number {
  return Number(points.at(-1)?.micro ?? 0n);
}

export function retiredByMonth(points: readonly Point[]): Html {
  const [most] = points.toSorted((one, other) => Number(other.micro - one.micro));
  if (most === undefined) return html``;
  const title =
    most.micro === 0n
      ? 'In these twelve months 0 t were retired'
      : `Of twelve months, most was retired in ${monthWords(most.name)}: ${wholeTonnes(most.micro)} t`;
  const more = outOf(points);
  return chart({
    as: 'bars',
    title: `${title}${more}`,
    unit: 'tonnes retired in the month, by the dates of the registry',
    points: drawn(points, name => monthWords(name).replace(/ 20/, ' ’')),
  });
}

/** One column of a table as it was measured, before anybody asked how wide the terminal is. */
export interface Measured {
  /** Its place in a row. */
  readonly index: number;
  /** Of its widest cell or its name. */
  readonly width: number;
  /** The same with ids and instants shortened. */
  readonly shortWidth: number;
  /** What it may be cut to. */
  readonly leastWidth: number;
  /** Left out after all others. */
  readonly isKept: boolean;
}

export interface Place {
  readonly index: number;
  readonly width: number;
  readonly isShort: boolean;
}

export const GAP = 2;

/** First ids and instants get short, then long texts are cut, then the last column that may goes; and again. */
export function fit(columns: readonly Measured[], room: number): Place[] {
  const whole = columns.map(({ index, width }) => ({ index, width, isShort: false }));
  if (total(whole) <= room) return whole;
  const short = columns.map(({ index, shortWidth }) => ({ index, width: shortWidth, isShort: true }));
  if (total(short) <= room) return short;
  const least = columns.map(({ leastWidth }) => leastWidth);
  const needed = least.reduce((sum, width) => sum + width + GAP, -GAP);
  if (needed <= room) return squeeze(short, least, room);
  const last = columns.findLastIndex(({ isKept }) => !isKept);
  if (columns.length > 1) return fit(columns.toSpliced(last, 1), room);
  return short.map(place => ({ ...place, width: Math.max(1, room) }));
}

/** The widest gives way first. */
function squeeze(places: readonly Place[], least: readonly number[], room: number): Place[] {
  const widths = places.map(({ width }) => width);
  for (let over = total(places) - room; over > 0; over -= 1) {
    const gives = widths.map((width, index) => (width > (least[index] ?? 0) ? width : 0));
    const widest = gives.indexOf(Math.max(...gives));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return places.map((place, index) => ({ ...place, width: widths[index] ?? place.width }));
}

function total(places: readonly Place[]): number {
  return places.reduce((sum, { width }) => sum + width + GAP, -GAP);
}

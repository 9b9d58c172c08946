/** Each value of a label costs memory for as long as the process runs. */
const MAX_VALUES = 100;

/** Passes the first values as they are, and every later new one as `other`. */
export function createLabel(maxValues = MAX_VALUES): (value: string) => string {
  const known = new Set<string>();
  return value => {
    if (known.has(value)) return value;
    if (known.size >= maxValues) return 'other';
    known.add(value);
    return value;
  };
}

export function within(known: readonly string[], value: string): string {
  return known.includes(value) ? value : 'other';
}

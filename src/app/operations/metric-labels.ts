/** Each value of a label costs memory for as long as the process runs. */
const MAX_VALUES = 100;

/** Limits the values of each metric label. The returned function replaces values after the first `maxValues` with "other". */
export function createLabelLimiter(maxValues = MAX_VALUES): (label: string, value: string) => string {
  const valuesByLabel = new Map<string, Set<string>>();
  return (label, value) => {
    const values = valuesByLabel.get(label) ?? new Set();
    valuesByLabel.set(label, values);
    if (values.size < maxValues) values.add(value);
    return values.has(value) ? value : 'other';
  };
}

/** Returns `value` if it is in `knownValues`, otherwise "other". */
export function replaceUnknownValue(knownValues: readonly string[], value: string): string {
  return knownValues.includes(value) ? value : 'other';
}

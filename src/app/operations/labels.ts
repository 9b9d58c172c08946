/** Each value of a label costs memory for as long as the process runs. */
const MAX_VALUES = 100;

/** Of each label the first values pass as they are, and every later new one as `other`. */
export function createLabelLimiter(maxValues = MAX_VALUES): (label: string, value: string) => string {
  const labels = new Map<string, Set<string>>();
  return (label, value) => {
    const known = labels.get(label) ?? new Set();
    labels.set(label, known);
    if (known.size < maxValues) known.add(value);
    return known.has(value) ? value : 'other';
  };
}

export function replaceUnknownValue(known: readonly string[], value: string): string {
  return known.includes(value) ? value : 'other';
}

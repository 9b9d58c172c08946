const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of `500ms`, `30s`, `10m`, `2h` or `1d`; null for anything else. */
export function parseDuration(text: string): number | null {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)$/.exec(text) ?? [];
  const size = MS_PER_UNIT[unit];
  return size === undefined ? null : Math.round(Number(number) * size);
}

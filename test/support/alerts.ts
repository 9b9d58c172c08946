import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** One alerting rule as it stands in the file. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const ALERTS = readFileSync(new URL('../../docs/alerts.yml', import.meta.url), 'utf8');

/** The rules of a file of one group. */
export function parseRules(text: string): readonly Rule[] {
  const { groups }: { groups: readonly { name: string; rules: readonly Rule[] }[] } = parse(text);
  return groups.flatMap(({ rules }) => rules);
}

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** An alerting rule of docs/alerts.yml. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const ALERTS = readFileSync(new URL('../../docs/alerts.yml', import.meta.url), 'utf8');

/** Returns the rules of all groups in an alerts file. */
export function parseAlertRules(text: string): readonly AlertRule[] {
  const { groups }: { groups: readonly { name: string; rules: readonly AlertRule[] }[] } = parse(text);
  return groups.flatMap(({ rules }) => rules);
}

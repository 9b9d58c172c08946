import { readFileSync } from 'node:fs';

/** One alerting rule as it stands in the file. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const ALERTS = readFileSync(new URL('../../docs/alerts.yml', import.meta.url), 'utf8');

const GROUP = 'groups:\n  - name: carbon-mirror\n    rules:\n';
/** Plain scalars that need no quotes: no ": ", no " #", nothing that YAML reads as something else at the start. */
const PLAIN = /^(?![-?:,[\]{}#&*!|>'"%@`] ?)(?!.*: )(?!.* #)\S.*$/;

/** The little of YAML that the file uses; whatever is beyond it is a fault. */
export function parseRules(text: string): Rule[] {
  const body = text.replace(/^#.*\n/gm, '');
  if (!body.startsWith(GROUP)) throw new Error(`expected the file to begin with:\n${GROUP}`);
  return body
    .slice(GROUP.length)
    .split(/^ {6}- /m)
    .slice(1)
    .map(parseRule);
}

function parseRule(block: string): Rule {
  const [
    alert = '',
    expr = '',
    wait = '',
    labels = '',
    severity = '',
    annotations = '',
    summary = '',
    ...rest
  ] = block.trimEnd().split('\n');
  if (rest.length > 0 || labels !== '        labels:' || annotations !== '        annotations:') {
    throw new Error(`expected alert, expr, for, labels and annotations, got:\n${block}`);
  }
  return {
    alert: valueOf(alert, 'alert'),
    expr: valueOf(expr, '        expr'),
    for: valueOf(wait, '        for'),
    labels: { severity: valueOf(severity, '          severity') },
    annotations: { summary: valueOf(summary, '          summary') },
  };
}

function valueOf(line: string, name: string): string {
  const start = `${name}: `;
  const value = line.slice(start.length);
  if (line.startsWith(start) && PLAIN.test(value)) return value;
  throw new Error(`expected "${start}" and a plain value, got "${line}"`);
}

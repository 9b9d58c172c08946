import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { REJECTION_REASONS } from '../../src/inbox/rejection.js';
import { startDemoForFile } from '../support/mirror/demo.js';

const demo = await startDemoForFile({ operations: true });
const ports = [demo.operationsPort, demo.receiverOperationsPort];
const served = await Promise.all(
  ports.map(async port => (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()),
);

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const { groups }: { groups: readonly { readonly rules: readonly AlertRule[] }[] } = parse(
  readFileSync(new URL('../../docs/alerts.yml', import.meta.url), 'utf8'),
);
const RULES = groups.flatMap(({ rules }) => rules);

function parts(expr: string) {
  return [...expr.matchAll(/(carbon_mirror_\w+)(?:\{(\w+)=~?"([^"]*)"\})?/g)].map(
    ([, name = '', label = '', values = '']) => ({ name, label, values: values.split('|') }),
  );
}

function samples(name: string): string[] {
  return served.flatMap(text =>
    text.split('\n').filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `)),
  );
}

test('the twelve alert rules have unique names, a severity, a summary and a duration', () => {
  expect(new Set(RULES.map(({ alert }) => alert)).size).toBe(12);
  for (const rule of RULES) {
    expect(rule.for, rule.alert).toMatch(/^\d+m$/);
    expect(['critical', 'warning'], rule.alert).toContain(rule.labels['severity']);
    expect(rule.annotations['summary'], rule.alert).toMatch(/[.?]$/);
    const brackets = rule.expr.replace(/"[^"]*"/g, '').replace(/[^(){}[\]]/g, '');
    expect(
      brackets
        .replace(/\{\}|\[\]/g, '')
        .replace(/\(\)/g, '')
        .replace(/\(\)/g, ''),
      rule.expr,
    ).toBe('');
    expect(rule.expr).toMatch(/ > \d+$/);
  }
});

test.each(RULES)('every metric of the alert $alert is served with the labels that it selects', ({ expr }) => {
  expect(parts(expr).length).toBeGreaterThan(0);
  for (const { name, label, values } of parts(expr)) {
    const type = served.map(text => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1]).find(Boolean);
    expect(type, name).toBe(name.endsWith('_total') ? 'counter' : 'gauge');
    if (type === 'counter') continue;
    for (const value of values) {
      const pattern = label === '' ? `^${name} ` : `^${name}\\{[^}]*${label}="${value}"`;
      expect(
        samples(name).filter(line => new RegExp(pattern).test(line)),
        pattern,
      ).not.toEqual([]);
    }
  }
});

test('the alert rules select only reasons that exist for rejected webhooks', () => {
  const rejectedSelectors = RULES.flatMap(({ expr }) => parts(expr)).filter(({ name }) =>
    name.endsWith('rejected_webhooks_total'),
  );
  expect(rejectedSelectors.flatMap(({ values }) => values).toSorted()).toEqual([
    'no_signature',
    'not_stored',
    'signature_not_valid',
  ]);
  for (const value of rejectedSelectors.flatMap(({ values }) => values))
    expect(REJECTION_REASONS).toContain(value);
});

test('receiver and worker both serve the heartbeats and waiting jobs that the alert rules need', () => {
  for (const text of served) {
    for (const role of ['work', 'receive']) {
      const sign = new RegExp(
        `^carbon_mirror_last_heartbeat_timestamp_seconds\\{role="${role}"\\} (\\S+)$`,
        'm',
      );
      expect(Math.abs(Date.now() / 1000 - Number(sign.exec(text)?.[1]))).toBeLessThan(600);
    }
    expect(text).toMatch(/^carbon_mirror_oldest_due_job_seconds \d/m);
  }
});

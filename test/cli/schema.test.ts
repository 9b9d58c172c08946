import { expect, test } from 'vitest';
import { listMigrations } from '../../src/store/migrations.js';
import { describeSchema } from '../../src/store/contract/describe-schema.js';
import { runCommand } from '../support/command.js';

test('every table, view and column has a meaning', () => {
  const relations = describeSchema('sqlite');
  const created = ['mirror', 'inbox'].flatMap(database =>
    listMigrations('sqlite', database === 'inbox' ? 'inbox' : 'mirror').flatMap(migration =>
      Array.from(
        migration.sql.matchAll(/^CREATE (?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)/gm),
        match => match[1],
      ),
    ),
  );
  expect(relations.map(relation => relation.name)).toEqual([...new Set(created)]);
  for (const relation of relations) {
    expect(relation.meaning, relation.name).toMatch(/\.$/);
    expect(relation.columns, relation.name).not.toHaveLength(0);
  }
});

test('schema lists useful views first and bookkeeping last', async () => {
  const { stdout } = await runCommand(['schema']);
  const names = stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split(' ')[0]);
  expect(names[0]).toBe('freshness');
  const place = (name: string) => names.indexOf(name);
  expect(place('available_credits')).toBeLessThan(place('retirements'));
  expect(place('retirements')).toBeLessThan(place('inbox.deliveries'));
  expect(place('inbox.deliveries')).toBeLessThan(place('retirements_history'));
  expect(place('retirements_history')).toBeLessThan(place('past'));
  expect(place('past')).toBeLessThan(place('fences'));
});

test('schema wraps descriptions on a terminal only', async () => {
  const meaning = describeSchema('sqlite').find(({ name }) => name === 'freshness')?.meaning ?? '';
  expect((await runCommand(['schema'])).stdout).toContain(meaning);
  for (const argv of [['schema'], ['schema', 'freshness']]) {
    const { stdout } = await runCommand(argv, { terminal: true, env: { NO_COLOR: '1' } });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(meaning);
    const widest = Math.max(...stdout.split('\n').map(line => line.length));
    expect(widest).toBeLessThanOrEqual(100);
    expect(widest).toBeGreaterThan(96);
  }
});

test('schema lists all relations, describes a named one and fails for an unknown name', async () => {
  const all = await runCommand(['schema']);
  expect(all).toMatchObject({ exitCode: 0 });
  expect(all.stdout).toContain('available_credits');
  const outcome = await runCommand(['schema', 'inbox.deliveries']);
  expect(outcome).toMatchObject({ exitCode: 0 });
  expect(outcome.stdout).toContain('received_at');
  const json = await runCommand(['schema', 'freshness', '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject([{ name: 'freshness', kind: 'view' }]);
  const none = await runCommand(['schema', 'retirement']);
  expect(none).toMatchObject({ exitCode: 6, stdout: '' });
  expect(none.stderr).toContain('There is no table or view "retirement"');
});

test('schema --grants prints the GRANT statements of each purpose for a role with any name', async () => {
  const { stdout } = await runCommand(['schema', '--grants', 'read', 'Bob "the" reader']);
  expect(stdout).toBe(
    [
      'GRANT USAGE ON SCHEMA inbox, mirror TO "Bob ""the"" reader";',
      'GRANT SELECT ON ALL TABLES IN SCHEMA inbox, mirror TO "Bob ""the"" reader";',
      '-- For SQL queries, a superuser must also do what "carbon-mirror doctor" says.',
      '',
    ].join('\n'),
  );
  for (const purpose of ['receive', 'work', 'console']) {
    expect((await runCommand(['schema', '--grants', purpose, 'r'])).stdout).toMatch(/^GRANT /);
  }
  expect(await runCommand(['schema', '--grants', 'read'])).toMatchObject({ exitCode: 2 });
  expect(await runCommand(['schema', '--grants', 'everything', 'r'])).toMatchObject({ exitCode: 2 });
});

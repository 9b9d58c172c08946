import { describe, expect, test } from 'vitest';
import { readDue } from '../../src/query/inbox/backlog.js';
import { ENGINES } from '../support/engines.js';
import { credit } from '../support/mirror.js';

describe.each(ENGINES)('$name', ({ library }) => {
  test('a look takes the calls of its reads, of its certificates and of its token, whoever fetches them', async () => {
    const { stage, reader } = await library();
    const callsEach = async () => (await readDue(reader, stage.clock.at)).callsEach;
    expect(await callsEach()).toBe(null);
    for (const resource of ['warehouse', 'inventory', 'warehouse'] as const)
      await stage.read(resource, [credit('c-1')]);
    const [first, second, third] = await stage.db.column<number>('SELECT id FROM sync_runs ORDER BY id');
    if (first === undefined || second === undefined || third === undefined) throw new Error('expected runs');
    const change = (id: number, sql: string) =>
      stage.db.change(`UPDATE sync_runs SET ${sql} WHERE id = ?`, id);
    await change(third, "job_id = 2, requests = 4, resource = 'certificates'");
    expect(await callsEach()).toBe(null);
    await change(first, 'job_id = 1, requests = 3');
    await change(second, 'job_id = 1, requests = 2');
    expect(await callsEach()).toBe(3 + 2 + 4 + 1);
  });
});

import { createMirror } from '../../src/mirror/create-mirror.js';
import { describe, expect, test } from 'vitest';
import { ENGINES, beginRead, TRAFFIC, writeInstallation } from '../support/mirror/open.js';
import { installation, retirement } from '../support/mirror/rows.js';
import type { Member } from '../../src/registry/object-models.js';

function createMember(id: string): Member {
  const item = { id, fullName: `Member ${id}`, email: `${id}@people.example` };
  return { ...item, document: JSON.stringify(item) };
}

function renamed({ id }: Member): Member {
  return { ...createMember(id), document: `{"id":"${id}","fullName":"Renamed"}` };
}

const createMembers = (count: number) =>
  Array.from({ length: count }, (_, index) => createMember(`m-${index}`));

describe.each(ENGINES)('$name', ({ stage }) => {
  test('a mirror configured without members removes all of them and shows no freshness for them', async () => {
    const { db, port, mirror, read, clock } = await stage();
    await read('members', createMembers(1200));
    clock.at += 60_000;
    await read('members', createMembers(1200).map(renamed));
    await read('retirements', [retirement('r-1')]);
    const count = (sql: string) => db.value<number>(`SELECT count(*) FROM ${sql}`);
    expect(await count('members_history')).toBe(2400);
    await mirror.removeMembers();
    expect(await count('members_history')).toBe(0);
    expect(await count("freshness WHERE resource = 'members'")).toBe(0);
    expect(await count("freshness WHERE resource = 'retirements'")).toBe(1);
    expect(await count('retirements')).toBe(1);
    const without = createMirror(port, () => clock.at, { mirrorMembers: false });
    await without.writeInstallation({
      installation: installation('installation-1', { createdAt: '2026-01-01T00:00:00.000Z', document: '{}' }),
      state: 'active',
      claim: 1,
      startedAt: clock.at,
      arrivedAt: clock.at,
      trigger: 'schedule',
    });
    expect(await count("freshness WHERE resource = 'members'")).toBe(0);
    expect(await count("resource_states WHERE resource = 'warehouse'")).toBe(1);
  });

  test('members are read again after they are enabled again', async () => {
    const { db, mirror, read } = await stage();
    const readRowCount = () => db.value("SELECT rows FROM freshness WHERE resource = 'members'");
    await read('members', createMembers(1));
    await mirror.removeMembers();
    expect(await readRowCount()).toBeUndefined();
    await read('members', createMembers(2));
    expect(await readRowCount()).toBe(2);
  });

  test('an unusable answer that mentions a forgotten person is removed with the person and not stored again', async () => {
    const { db, mirror, clock } = await stage();
    const text = '{"owner":"Ada@People.example"}';
    const otherText = '{"owner":"somebody else"}';
    const fail = async (organizationId = 'organization-1', answerText = text) => {
      const answer = { status: 200, form: 'object' as const, at: clock.at, text: answerText };
      const read = await beginRead({ mirror, clock }, 'members', { organizationId });
      await read.abandon({ code: 'other_form', message: 'members: expected a list' }, { ...TRAFFIC, answer });
    };
    await fail();
    await writeInstallation({ mirror, clock }, 2);
    await fail('organization-2', otherText);
    const kept = (organizationId = 'organization-1') =>
      db.value(
        "SELECT answer_text FROM resource_states WHERE resource = 'members' AND organization_id = ?",
        organizationId,
      );
    expect(await kept()).toBe(text);
    await mirror.forget('somebody@people.example');
    expect(await kept()).toBe(text);
    await mirror.forget('ada@people.example');
    expect(await kept()).toBeNull();
    expect(await kept('organization-2')).toBe(otherText);
    await fail();
    expect(await kept()).toBeNull();
  });
});

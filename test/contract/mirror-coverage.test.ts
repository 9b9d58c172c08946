import { describe, expect, test } from 'vitest';
import { ENGINES, type TestMirror, MINUTE } from '../support/mirror/open.js';
import { installation } from '../support/mirror/rows.js';

const readKnownOrganizations = ({ db }: TestMirror) =>
  db.rows('SELECT installation_id AS id, organization_id AS owner, state FROM coverage ORDER BY 1');

const formatInstant = (at: number) => new Date(at).toISOString();
const waits = (id: string, owner: string | null = null) => ({ id, owner, state: 'never_read' });
const named = (id: string, organizationId: string | null = null) => ({ id, organizationId });
const ACTIVE = { id: 'installation-1', owner: 'organization-1', state: 'active' };

describe.each(ENGINES)('$name', ({ stage }) => {
  test('an announced or discovered installation is never_read until its first read', async () => {
    const scene = await stage();
    const { mirror, clock } = scene;
    await mirror.report({
      at: formatInstant(clock.at),
      awaitedInstallations: [named('i-2'), named('i-3', 'organization-3')],
    });
    expect(await readKnownOrganizations(scene)).toEqual([
      waits('i-2'),
      waits('i-3', 'organization-3'),
      ACTIVE,
    ]);
    clock.at += MINUTE;
    const by = { claim: 2, startedAt: clock.at, arrivedAt: clock.at, trigger: 'delivery' };
    await mirror.writeInstallation({ ...by, installation: installation('i-2'), state: 'suspended' });
    expect(await readKnownOrganizations(scene)).toEqual([waits('i-3', 'organization-3'), ACTIVE]);
  });

  test('freshness has one row for an organization that awaits its first read, and no extra row for a known one', async () => {
    const scene = await stage();
    const { mirror, clock, db } = scene;
    const by = { claim: 2, startedAt: clock.at, arrivedAt: clock.at, trigger: 'delivery' };
    const other = { ...installation('i-8'), organizationId: 'organization-2' };
    await mirror.writeInstallation({ ...by, installation: other, state: 'suspended' });
    const owned = ['organization-1', 'organization-2', 'organization-3', 'organization-3', null];
    const waiting = owned.map((owner, n) => named(`i-${n + 2}`, owner));
    await mirror.report({ at: formatInstant(clock.at), awaitedInstallations: waiting });
    await db.change(
      "INSERT INTO awaited_installations VALUES ('installation-1', 'organization-9', ?)",
      formatInstant(clock.at),
    );
    const rows = await db.rows(
      "SELECT organization_id AS owner FROM freshness WHERE resource = '*' ORDER BY 1",
    );
    expect(new Set(rows.map(({ owner }) => owner))).toEqual(new Set([null, 'organization-3']));
    expect((await readKnownOrganizations(scene)).filter(({ state }) => state === 'never_read')).toHaveLength(
      rows.length,
    );
  });

  test('an awaited installation is dropped by a later complete report without it', async () => {
    const scene = await stage();
    const { mirror, clock } = scene;
    await mirror.report({ at: formatInstant(clock.at), awaitedInstallations: [named('i-2')] });
    clock.at += MINUTE;
    await mirror.report({
      at: formatInstant(clock.at),
      awaitedInstallations: [named('i-3')],
      unreadDeliveries: [],
    });
    expect(await readKnownOrganizations(scene)).toEqual([waits('i-3'), ACTIVE]);
  });

  test('an organization has its most active installation, and of equal ones that with the highest id', async () => {
    const scene = await stage();
    const { mirror, clock, db } = scene;
    const by = { claim: 2, startedAt: clock.at, arrivedAt: clock.at, trigger: 'delivery' };
    const installed = [
      ['i-1', 'a', 'uninstalled'],
      ['i-2', 'a', 'active'],
      ['i-3', 'a', 'active'],
      ['i-4', 'a', 'suspended'],
      ['i-1', 'b', 'suspended'],
      ['i-2', 'b', 'uninstalled'],
      ['i-1', 'c', 'uninstalled'],
      ['i-1', 'd', 'uninstalled'],
      ['i-2', 'd', 'uninstalled'],
    ] as const;
    for (const [id, owner, state] of installed)
      await mirror.writeInstallation({
        ...by,
        installation: { ...installation(`${owner}-${id}`), organizationId: owner },
        state,
      });
    const awaited = [
      ['b-i-9', 'b'],
      ['c-i-8', 'c'],
      ['c-i-9', 'c'],
    ] as const;
    // An installation that was read meanwhile still has its row for a moment.
    for (const [id, owner] of [...awaited, ['d-i-2', 'd']])
      await db.change(
        'INSERT INTO awaited_installations VALUES (?, ?, ?)',
        id ?? '',
        owner ?? '',
        formatInstant(clock.at),
      );
    const known = [
      { id: 'a-i-3', owner: 'a', state: 'active' },
      { id: 'b-i-1', owner: 'b', state: 'suspended' },
      waits('c-i-9', 'c'),
      { id: 'd-i-2', owner: 'd', state: 'uninstalled' },
    ];
    expect(await readKnownOrganizations(scene)).toEqual([...known, ACTIVE]);
    expect(await db.rows("SELECT state FROM coverage WHERE organization_id = 'c'")).toEqual([
      { state: 'never_read' },
    ]);
  });
});

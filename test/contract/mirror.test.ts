import { describe, expect, test } from 'vitest';
import { ENGINES, type TestMirror, MINUTE, TRAFFIC, writeInstallation } from '../support/mirror/open.js';
import { credit, installation, member, retirements } from '../support/mirror/rows.js';
import { createCertificateFolder } from '../../src/store/sqlite/mirror/certificate-folder.js';
import type { ProjectsSession } from '../../src/mirror/mirror.js';
import { createProjectAnswer } from '../../src/mirror/sync-session.js';
import type { Project } from '../../src/registry/object-models.js';
import { temporaryFolder } from '../support/inbox.js';

const createProject = (id: string, fullName = 'Peat bog'): Project => ({
  id,
  num: '7',
  fullName,
  shortDescription: null,
  status: 'validated',
  registry: null,
  countryCode: 'IS',
  sector: null,
  methodology: null,
  type: 'removal',
  startDate: '2020-01-01',
  document: JSON.stringify({ id, fullName }),
});

/** The instants of a request that is answered at once. */
const answeredAt = (at: number) => ({ requestedAt: at, arrivedAt: at });

async function writeAnswer(
  beginProjectsWalk: Promise<ProjectsSession>,
  ...given: Parameters<typeof createProjectAnswer>
): Promise<string | undefined> {
  return (await (await beginProjectsWalk).write([createProjectAnswer(...given)]))[0];
}

const walk = ({ mirror, clock }: TestMirror, organizationId = 'organization-1', claim = 1) =>
  mirror.beginProjects({ organizationId, claim, startedAt: clock.at, trigger: 'schedule' });

describe.each(ENGINES)('$name', ({ stage }) => {
  test('projects that rows reference are due until they are requested', async () => {
    const scene = await stage();
    await scene.read('warehouse', [
      credit('c-1'),
      credit('c-2', { project: { id: 'project-2', fullName: null } }),
    ]);
    const projects = await walk(scene);
    expect(await projects.listDue(scene.clock.at)).toEqual(['project-1', 'project-2']);
    const answered = createProjectAnswer(createProject('project-1'), answeredAt(scene.clock.at));
    const refused = { id: 'project-2', error: 'not_found', requestedAt: scene.clock.at };
    expect(await projects.write([answered, refused])).toEqual(['added', 'unavailable']);
    expect(await projects.listDue(scene.clock.at)).toEqual([]);
    await projects.finish(TRAFFIC);
    expect(
      await scene.db.rows('SELECT project_id, state, error FROM project_states ORDER BY project_id'),
    ).toEqual([
      { project_id: 'project-1', state: 'readable', error: null },
      { project_id: 'project-2', state: 'unavailable', error: 'not_found' },
    ]);
    scene.clock.at += MINUTE;
    expect(await (await walk(scene)).listDue(scene.clock.at)).toEqual(['project-1', 'project-2']);
    expect(await scene.db.value("SELECT rows FROM freshness WHERE resource = 'projects'")).toBe(1);
  });

  test('an older answer about a project never overwrites a newer one requested by another organization', async () => {
    const scene = await stage();
    const older = scene.clock.at;
    scene.clock.at += 3 * MINUTE;
    expect(
      await writeAnswer(walk(scene), createProject('project-1', 'New name'), answeredAt(older + MINUTE)),
    ).toBe('added');
    expect(
      await writeAnswer(
        walk(scene, 'organization-2', 9),
        createProject('project-1', 'Old name'),
        answeredAt(older),
      ),
    ).toBe('older');
    expect(
      await writeAnswer(walk(scene), createProject('project-1', 'New name'), answeredAt(older + 2 * MINUTE)),
    ).toBe('unchanged');
    expect(
      await writeAnswer(
        walk(scene),
        createProject('project-1', 'Newer name'),
        answeredAt(older + 3 * MINUTE),
      ),
    ).toBe('changed');
    expect(await scene.db.column('SELECT full_name FROM projects_history ORDER BY version')).toEqual([
      'New name',
      'Newer name',
    ]);
  });

  test('an installation has a version for each state it was in', async () => {
    const { db, mirror, clock } = await stage();
    const when = { startedAt: clock.at, arrivedAt: clock.at };
    const read = { installationId: 'installation-1', claim: 2, trigger: 'delivery', ...when };
    expect(await mirror.writeInstallation({ ...read, state: 'suspended' })).toBe('changed');
    expect(await mirror.writeInstallation({ ...read, state: 'suspended' })).toBe('unchanged');
    expect(
      await mirror.writeInstallation({ ...read, installationId: 'never-seen', state: 'uninstalled' }),
    ).toBe('unchanged');
    expect(
      await mirror.writeInstallation({
        ...read,
        installation: installation('installation-1'),
        state: 'active',
      }),
    ).toBe('changed');
    expect(
      await db.rows('SELECT state, valid_to IS NULL AS now FROM installations_history ORDER BY version'),
    ).toEqual([
      { state: 'active', now: 0 },
      { state: 'suspended', now: 0 },
      { state: 'active', now: 1 },
    ]);
    const reversed = await db.value(
      'SELECT count(*) FROM installations_history WHERE valid_from >= valid_to',
    );
    expect(reversed).toBe(0);
  });

  test('projects and installations are dated by when their answers arrived', async () => {
    const scene = await stage();
    const { db, mirror, clock } = scene;
    const when = { requestedAt: clock.at, arrivedAt: clock.at + 3_000 };
    await writeAnswer(walk(scene), createProject('project-1'), when);
    const state = {
      installationId: 'installation-1',
      state: 'suspended',
      claim: 2,
      trigger: 'delivery',
    } as const;
    await mirror.writeInstallation({ ...state, startedAt: when.requestedAt, arrivedAt: when.arrivedAt });
    const answered = '2026-05-04T12:00:03.000Z';
    const of = (table: string) => db.column<string>(`SELECT valid_from FROM ${table}`);
    expect([await of('projects'), await of('installations')]).toEqual([[answered], [answered]]);
  });

  test('a mirror filled from one registry refuses any other', async () => {
    const { mirror } = await stage();
    await mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
    await mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
    for (const [url, app] of [
      ['https://other.example', 'app-1'],
      ['https://registry.example', 'app-2'],
    ] as const) {
      await expect(mirror.checkOrigin({ baseUrl: url, appId: app })).rejects.toThrow(
        expect.objectContaining({ code: 'foreign_registry' }),
      );
    }
  });

  test('a registry at a new address is accepted only for the same app', async () => {
    const { mirror, db } = await stage();
    await mirror.checkOrigin({ baseUrl: 'http://127.0.0.1:8090', appId: 'app-1' });
    const moved = { baseUrl: 'http://127.0.0.1:9999', appId: 'app-2', mayMove: true };
    await expect(mirror.checkOrigin(moved)).rejects.toThrow('filled from');
    await mirror.checkOrigin({ baseUrl: 'http://127.0.0.1:8091', appId: 'app-1', mayMove: true });
    await mirror.checkOrigin({ baseUrl: 'http://127.0.0.1:8091', appId: 'app-1' });
    expect(await db.rows('SELECT base_url, app_id FROM origin')).toEqual([
      { base_url: 'http://127.0.0.1:8091', app_id: 'app-1' },
    ]);
  });

  test("forgetting a person removes the person's rows and history, and later reads do not restore them", async () => {
    const { db, mirror, clock, read } = await stage();
    const people = [member('m-1', 'Ada@Example.org'), member('m-2', 'bo@example.org')];
    await read('members', people);
    clock.at += MINUTE;
    await read('members', [
      { ...member('m-1', 'Ada@Example.org'), document: '{"id":"m-1","changed":true}' },
      member('m-2', 'bo@example.org'),
    ]);
    expect(await mirror.forget(' ada@example.org')).toBe(2);
    expect(await db.column('SELECT email FROM members_history')).toEqual(['bo@example.org']);
    clock.at += MINUTE;
    expect(await read('members', people)).toMatchObject({
      state: 'complete',
      added: 0,
      removed: 0,
      unchanged: 1,
    });
    expect(await db.value("SELECT rows FROM freshness WHERE resource = 'members'")).toBe(1);
    expect(JSON.stringify(await db.rows('SELECT * FROM forgotten_people'))).not.toMatch(/ada/i);
  });

  test('a purge removes one organization and no rows of another', async () => {
    const { db, mirror, clock, read } = await stage();
    await writeInstallation({ mirror, clock }, 2, { claim: 3 });
    for (const organizationId of ['organization-1', 'organization-2']) {
      await read('retirements', retirements(700), { organizationId, claim: 4, limit: 100, total: 700 });
      await read('warehouse', [credit('c-1')], { organizationId, claim: 4 });
    }
    const announced = { resource: 'warehouse', oldestUnreadAt: new Date(clock.at).toISOString() };
    const owners = ['organization-1', 'organization-2'];
    const unread = owners.map(organizationId => ({ ...announced, organizationId }));
    await mirror.report({ at: announced.oldestUnreadAt, unreadDeliveries: unread });
    const rowsOf = async (organizationId: string) => {
      const found: string[] = [];
      for (const table of await db.tables()) {
        if (!(await db.columns(table)).includes('organization_id')) continue;
        const one = await db.row(`SELECT 1 FROM ${table} WHERE organization_id = ?`, organizationId);
        if (one !== undefined) found.push(table);
      }
      return found;
    };
    const before = await rowsOf('organization-2');
    const pdfs = createCertificateFolder(temporaryFolder(), { now: Date.now });
    const claims = [5, 6];
    const takeClaim = async () => claims.shift() ?? 0;
    const purged = await mirror.purge({ organizationId: 'organization-1', acquireClaim: takeClaim, pdfs });
    expect(purged).toEqual({ removedFiles: 0, newInstallationIds: [] });
    expect(await rowsOf('organization-1')).toEqual(['fences']);
    expect(await rowsOf('organization-2')).toEqual(before);
    expect(await db.value('SELECT count(*) FROM retirements')).toBe(700);
    const stale = read('warehouse', [credit('c-1')], { claim: 4 });
    await expect(stale).rejects.toMatchObject({ code: 'fenced' });
  });

  describe('old syncs', () => {
    const HOUR = 60 * MINUTE;

    test('are removed, except those that wrote rows, are running, or are the last complete one of a day', async () => {
      const { db, mirror, clock, read } = await stage();
      await read('warehouse', [credit('c-1')]);
      for (let time = 0; time < 12; time += 1) {
        clock.at += 4 * HOUR;
        await read('warehouse', [credit(time < 9 ? 'c-1' : 'c-2')]);
      }
      await db.change(`INSERT INTO syncs (organization_id, resource, trigger, claim, started_at, state)
      VALUES ('organization-1', 'warehouse', 'schedule', 1, '2026-05-01T00:00:00.000Z', 'running')`);
      const kept = async () => {
        const starts = await db.column<string>(
          "SELECT started_at FROM syncs WHERE resource = 'warehouse' ORDER BY id",
        );
        return starts.map(start => start.slice(0, 13));
      };
      expect(await kept()).toHaveLength(14);
      expect(await mirror.pruneSyncs(clock.at)).toBe(8);
      const whatStays = [
        '2026-05-04T12', // the first rows
        '2026-05-04T20', // the last of its day
        '2026-05-05T20',
        '2026-05-06T04', // a change
        '2026-05-06T12', // not older than the bound
        '2026-05-01T00', // still running
      ];
      expect(await kept()).toEqual(whatStays);
      expect(await mirror.pruneSyncs(clock.at)).toBe(0);
      expect(await mirror.pruneSyncs(clock.at + 1)).toBe(0);
      expect(await kept()).toEqual(whatStays);
    });

    test('are checked in batches, and checked again only if they have become old since', async () => {
      const { db, mirror, clock } = await stage();
      const add = (count: number) =>
        db.change(
          `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
          INSERT INTO syncs (organization_id, resource, trigger, claim, started_at, finished_at, state)
          SELECT 'organization-1', 'members', 'schedule', 1, ?, ?, 'complete' FROM n`,
          count,
          new Date(clock.at).toISOString(),
          new Date(clock.at).toISOString(),
        );
      await add(1201);
      clock.at += 24 * HOUR;
      expect(await mirror.pruneSyncs(clock.at)).toBe(1200);
      await add(3);
      expect(await mirror.pruneSyncs(clock.at + 25 * HOUR)).toBe(2);
    });
  });
});

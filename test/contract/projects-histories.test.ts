import { expect, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { startInstalled, type Program } from '../support/program.js';
import { chooseLength } from '../support/long.js';
import { createRandom, pick } from '../support/random.js';
import { createOrganization } from '../support/sandbox.js';
import { listSeeds } from '../support/seeds.js';

const HOUR_MS = 3_600_000;
const STEPS = 20;
const STALE_AFTER_MS = 48 * HOUR_MS;

type Step = () => void | Promise<void>;

interface ProjectsFreshness {
  readonly organization_id: string;
  readonly state: string;
  readonly as_of: string | null;
}

interface Reference {
  readonly organization_id: string;
  readonly project_id: string;
  /** What the mirror shows of it; null where it says that the registry does not show it. */
  readonly full_name: string | null;
}

/** A name of a project and when the project got it. */
interface DatedName {
  readonly at: number;
  readonly name: string;
}

const REFERENCES = `SELECT r.organization_id, r.project_id, p.full_name
  FROM project_references AS r
    LEFT JOIN project_states AS s ON s.project_id = r.project_id AND s.state = 'readable'
    LEFT JOIN projects AS p ON p.id = s.project_id`;

/** Two organizations that share projects, and everything that can happen to a project. */
async function startHistory(seed: number) {
  const { program, organizationId, installationId } = await startInstalled();
  const { registry, sandbox, time, app, inbox } = program;
  const random = createRandom(seed);
  const other = createOrganization(sandbox).id;
  const first = { organizationId, installationId };
  const installed = [
    first,
    { organizationId: other, installationId: registry.installations.install(app.id, other).id },
  ];
  const names = new Map<string, DatedName[]>();
  for (const { id, fullName } of registry.projects.listAll()) names.set(id, [{ at: 0, name: fullName }]);

  const anyOrganization = () => pick(random, [organizationId, other], other);
  const anyProject = () => pick(random, [...names.keys()], '');

  function rename(): void {
    const id = anyProject();
    const name = `name ${random()}`;
    registry.projects.change(id, { fullName: name });
    names.get(id)?.push({ at: time.now(), name });
  }

  function issue(isNew: boolean): void {
    const fullName = `project ${random()}`;
    const projectId = isNew ? registry.projects.create({ fullName }).id : anyProject();
    if (isNew) names.set(projectId, [{ at: 0, name: fullName }]);
    registry.credits.issue({
      organizationId: anyOrganization(),
      projectId,
      place: 'warehouse',
      amount: 10,
      vintage: '2021',
    });
  }

  async function syncByPerson(): Promise<void> {
    const { installationId: id, organizationId: owner } = pick(random, installed, first);
    await inbox.enqueue([createInstallationJob(id, owner, 'person')]);
    await program.rest();
  }

  const path = () => `/projects/${pick(random, [anyProject(), '*'], '*')}`;
  const steps: readonly Step[] = [
    rename,
    rename,
    () => issue(true),
    () => issue(false),
    () => registry.projects.change(anyProject(), { isPublic: random() < 0.5 }),
    () => void registry.faults.add({ path: path(), kind: 'status', options: { status: 503 }, count: 9 }),
    () => registry.faults.clear(),
    () => time.move(Math.floor(random() * 20 * HOUR_MS)),
    () => program.rest(),
    () => program.rest(),
    () => program.reconcile(Math.floor(random() * 30 * HOUR_MS)),
    () => program.reconcile(Math.floor(random() * 30 * HOUR_MS)),
    () => program.reconcile(15 * 60_000),
    syncByPerson,
    async () => {
      await program.kill();
      await program.startWorker();
    },
  ];
  await program.rest();
  return { program, names, step: async () => await pick<Step>(random, steps, rename)() };
}

/** Returns the registry's last answer for each project and its instant, from the registry's own log. */
function readLastAnswers({ registry }: Program) {
  const calls = registry.calls.list({ appId: null, installationId: null, limit: 100_000 }).toReversed();
  const answered = calls.filter(
    ({ path, status }) => path.startsWith('/projects/') && [200, 404].includes(status),
  );
  return new Map(answered.map(({ path, at, status }) => [path.slice('/projects/'.length), { at, status }]));
}

/** Names that the project had at some moment since an instant. */
function listNamesSince(namings: readonly DatedName[], since: number): string[] {
  return namings.filter((_, n) => (namings[n + 1]?.at ?? Infinity) >= since).map(({ name }) => name);
}

/** Returns the statements of `freshness` about projects that the log of the registry contradicts. */
async function findContradictions(
  program: Program,
  names: ReadonlyMap<string, readonly DatedName[]>,
): Promise<string[]> {
  const rows = await program.rows<ProjectsFreshness>(
    "SELECT organization_id, state, as_of FROM freshness WHERE resource = 'projects'",
  );
  const references = await program.rows<Reference>(REFERENCES);
  const answers = readLastAnswers(program);
  return rows.flatMap(({ organization_id: id, state, as_of: asOf }) => {
    const untrue = (what: string) => `${state} as of ${asOf}: ${what}`;
    if (asOf === null) return state === 'fresh' ? [untrue('without an instant')] : [];
    const isOld = program.time.now() - Date.parse(asOf) > STALE_AFTER_MS + 1000;
    const own = references.filter(each => each.organization_id === id);
    return [
      ...(state === 'fresh' && isOld ? [untrue('older than two days')] : []),
      ...own.flatMap(({ project_id: project, full_name: name }) => {
        const answer = answers.get(project);
        if (answer === undefined || answer.at < asOf)
          return [untrue(`${project} was last answered ${answer?.at}`)];
        const had = listNamesSince(names.get(project) ?? [], Date.parse(asOf));
        const isTrue = name === null ? answer.status === 404 : answer.status === 200 && had.includes(name);
        return isTrue ? [] : [untrue(`${project} is not ${name}, the registry answered ${answer.status}`)];
      }),
    ];
  });
}

test.each(listSeeds(chooseLength(2, 50)))(
  "the freshness of projects never claims more than the registry's log shows (seed %i)",
  async seed => {
    const { program, names, step } = await startHistory(seed);
    for (let n = 0; n < STEPS; n += 1) {
      await step();
      expect(await findContradictions(program, names)).toEqual([]);
    }
  },
);

import { beginCertificateWalk, streamPdf } from './certificates.js';
import { createProjectAnswer } from '../../src/mirror/sync-session.js';
import { credit, installation, createUnknownPage, retirement } from './mirror/rows.js';
import { MINUTE, type SqliteMirror, TRAFFIC } from './mirror/open.js';
import { createRandom, pick } from './random.js';

/** A mirror that can change at random in every possible way. */
export interface RandomMirror {
  /** Makes a random change, and returns its name. */
  readonly change: () => Promise<string>;
}

type MirrorScene = Omit<SqliteMirror, 'handle'>;

interface ChangeContext extends MirrorScene {
  readonly random: () => number;
  readonly claim: number;
  readonly truth: Record<'retirements' | 'warehouse', Map<string, string>>;
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const CHANGES = { retirements, warehouse, twice, certificates, project, suspend } as const;

/** Creates random changes of a mirror. The same seed gives the same changes on every engine. */
export function createRandomMirror(scene: MirrorScene, seed: number, claim = 1): RandomMirror {
  const random = createRandom(seed);
  const truth = { retirements: new Map<string, string>(), warehouse: new Map<string, string>() };
  const context = { ...scene, random, truth, claim };
  return {
    change: async () => {
      scene.clock.at += MINUTE;
      const name = pick(random, Object.keys(CHANGES), 'warehouse');
      await CHANGES[isChangeName(name) ? name : 'warehouse'](context);
      return name;
    },
  };
}

function isChangeName(name: string): name is keyof typeof CHANGES {
  return Object.hasOwn(CHANGES, name);
}

/** Adds, changes and removes random rows, and returns all that are left. */
function changeRows(random: () => number, rows: Map<string, string>): [id: string, document: string][] {
  for (const id of IDS) {
    const chance = random();
    if (chance < 0.25) rows.delete(id);
    else if (chance < 0.5) rows.set(id, `{"edit":${random()}}`);
  }
  return [...rows];
}

async function retirements({ read, random, truth, claim }: ChangeContext): Promise<void> {
  const rows = changeRows(random, truth.retirements).map(([id, document]) => retirement(id, { document }));
  await read('retirements', rows, { claim, limit: 2, total: rows.length, findGone: async ids => ids });
}

/** Reads a changed warehouse, and reads it again if its answer lacks too many rows to be believed at once. */
async function warehouse({ read, clock, random, truth, claim }: ChangeContext): Promise<void> {
  const rows = changeRows(random, truth.warehouse).map(([id, document]) => credit(id, { document }));
  const { state } = await read('warehouse', rows, { claim });
  clock.at += 2 * MINUTE;
  if (state !== 'complete') await read('warehouse', rows, { claim });
}

/** Reads a list that shows one row twice, with different content. */
async function twice({ mirror, clock, random, truth, claim }: ChangeContext): Promise<void> {
  const [first] = truth.retirements.keys();
  if (first === undefined) return;
  const request = { organizationId: 'organization-1', claim, trigger: 'delivery' };
  const read = await mirror.beginRead({ ...request, resource: 'retirements', startedAt: clock.at });
  for (let page = 0; page < 2; page += 1) {
    const document = `{"edit":${random()}}`;
    truth.retirements.set(first, document);
    await read.writePage(createUnknownPage([retirement(first, { document })], clock.at));
  }
  await read.abandon({ code: 'timeout', message: 'no answer' }, TRAFFIC);
}

async function certificates(context: ChangeContext): Promise<void> {
  const { clock, random, truth, claim } = context;
  const walk = await beginCertificateWalk(context, { claim });
  for (const id of truth.retirements.keys()) {
    if (random() < 0.5) await walk.store(id, streamPdf(String(random())), clock.at);
  }
  await walk.finish(TRAFFIC);
}

async function project({ mirror, clock, random, claim }: ChangeContext): Promise<void> {
  const request = { organizationId: 'organization-1', claim, trigger: 'schedule' };
  const walk = await mirror.beginProjects({ ...request, startedAt: clock.at });
  const fullName = `Peat bog ${random()}`;
  const empty = {
    shortDescription: null,
    registry: null,
    countryCode: null,
    sector: null,
    methodology: null,
  };
  const named = { id: 'project-1', num: null, fullName, status: null, type: null, startDate: null };
  const document = JSON.stringify({ fullName });
  await walk.write([
    createProjectAnswer({ ...empty, ...named, document }, { requestedAt: clock.at, arrivedAt: clock.at }),
  ]);
  await walk.finish(TRAFFIC);
}

async function suspend({ mirror, clock, claim }: ChangeContext): Promise<void> {
  const when = { claim, startedAt: clock.at, arrivedAt: clock.at, trigger: 'delivery' };
  await mirror.writeInstallation({ ...when, installationId: 'installation-1', state: 'suspended' });
  clock.at += MINUTE;
  await mirror.writeInstallation({ ...when, installation: installation('installation-1'), state: 'active' });
}

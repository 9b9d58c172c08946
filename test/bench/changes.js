// npm run bench -- changes [--engine postgres]: measures `changes --since 24h` on a mirror of 1,000,000 retirements (ROWS sets another
// number) with 10,000 changes of the last day, each start against a start of Node that does nothing.
import { execFileSync } from 'node:child_process';
import { openEngine } from '../../dist/src/store/open-engine.js';
import { MAIN, withFolder } from './parts/children.js';
import { freshDatabase, readArguments, withPostgres } from './parts/engine.js';
import { best, createFigures, timed } from './parts/figures.js';
import { install, read, retirement, withWriters } from './parts/fill-mirror.js';
import { chooseSize } from './parts/size.js';

/** @import { Engine } from '../../dist/src/store/engine.js' */
/** @import { Retirement } from '../../dist/src/registry/object-models.js' */
/** @import { Settings } from './parts/engine.js' */

const ROWS = chooseSize({ name: 'ROWS', usual: 1_000_000, smallest: 200 });
const CHANGED = chooseSize({ usual: 5_000, smallest: 50 });
/** Half of the changes are changed rows, half are added ones. */
const CHANGES = 2 * CHANGED;
const TIMES = chooseSize({ usual: 9, smallest: 1 });
/**
 * The bound for the command, in starts of Node. The start of the program takes about three of them. SQLite needs 9 µs to compare the two
 * versions of a change. The rest parses and describes 10,000 changes.
 */
const TAKES = { atMost: 8 };
const DAY_MS = 86_400_000;
const OWNER = 'organization-1';

const { engine: name } = readArguments();
const { show, demand, end } = createFigures();
if (name === 'sqlite') await withFolder(async folder => await measure({ dataDir: folder, database: null }));
else {
  await withPostgres(async server =>
    withFolder(async folder => {
      const url = await freshDatabase(server);
      await measure({ dataDir: folder, database: { url, queryUrl: null, pool: null } });
    }),
  );
}
end();

/** @param {Settings} settings */
async function measure(settings) {
  await fill(openEngine({ ...settings, diskReserveMb: null }));
  const where = settings.database === null ? {} : { MIRROR_DATABASE_URL: settings.database.url };
  const env = { ...process.env, DATA_DIR: settings.dataDir, ...where };
  /** @type {(args: readonly string[]) => Promise<number>} */
  const run = args => timed(() => execFileSync(process.execPath, args, { env, stdio: 'ignore' }));
  const shown = execFileSync(process.execPath, [MAIN, 'changes', '--since', '24h'], {
    env,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (!shown.includes(`${CHANGES} changes:`))
    throw new Error(`expected ${CHANGES} changes: ${shown.slice(-200)}`);
  /** @type {Record<'bare' | 'nothing' | 'changes', number[]>} */
  const times = { bare: [], nothing: [], changes: [] };
  for (let time = 0; time < TIMES; time++) {
    times.bare.push(await run(['-e', '0']));
    times.nothing.push(await run([MAIN, 'changes', '--since', 'now']));
    times.changes.push(await run([MAIN, 'changes', '--since', '24h']));
  }
  show('node that does nothing', best(times.bare), 'ms');
  show('changes --since now', best(times.nothing), 'ms');
  show(`changes --since 24h, ${CHANGES.toLocaleString('en')} of them`, best(times.changes), 'ms');
  const starts = best(times.changes) / best(times.bare);
  demand(`changes --since 24h / a start of bare node, ${name}`, starts, 'times', TAKES);
}

/**
 * Fills the mirror, and then changes some rows and adds as many.
 * @param {Engine} engine
 */
async function fill(engine) {
  await withWriters(engine, 30, async stage => {
    await install(stage, OWNER);
    await read(stage, OWNER, 'retirements', ROWS, madeFor('Harbour Ferries'));
    stage.clock.at = Date.now() - DAY_MS / 24;
    await read(stage, OWNER, 'retirements', ROWS + CHANGED, (id, n) =>
      madeFor(n < CHANGED ? 'Northern Rail' : 'Harbour Ferries')(id, n),
    );
  });
  show('retirements mirrored', ROWS + CHANGED, 'rows');
}

/**
 * @param {string} beneficiary
 * @returns {(organizationId: string, n: number) => Retirement}
 */
function madeFor(beneficiary) {
  return (id, n) => retirement(id, n, `${beneficiary} ${n % 5_000}`);
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type AllKept, readKept } from '../../query/inbox/deliveries.js';
import type { Keeping } from '../../store/engine.js';
import { readStore } from '../../app/config/config.js';
import { openEngine } from '../../store/open.js';
import { verifyFiles } from '../certificate-files.js';
import { command } from '../command.js';
import { type Context, type MirrorLocation } from '../context.js';
import { using } from '../mirror-location.js';
import { checkFault, isThere, notThereFault, usageFault } from '../exit.js';
import { beginOrigin, describeRestored } from '../sealed.js';
import { choice, needed, text } from '../options.js';

const JSON_OF = { json: 'print what was done as JSON' };

export const BACKUP = command({
  says: 'Write inbox, evidence, mirror and certificates to a new folder, while they are used, and check what was written',
  words: { folder: needed(text('folder', 'the backup; it must not be there yet')) },
  prints: JSON_OF,
  examples: ['carbon-mirror backup /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const keeping = keepingOf(context.location());
    if (existsSync(folder)) throw isThere(folder);
    await keeping.copyTo(folder);
    const copy = at(folder);
    const { certificates } = await check(context, copy);
    const kept = await readAll(copy);
    await context.tell(
      { folder, certificates, ...kept },
      `Wrote ${folder}, and checked it: ${told(kept)}, ${certificates} certificates.`,
      'Keep EVIDENCE_KEY_FILE and the .last-signed beside it apart from it.',
    );
  },
});

export const RESTORE = command({
  says: 'Put a backup in the place of what stands there, which is kept aside; every process must be stopped before',
  words: { folder: needed(text('folder', 'what "carbon-mirror backup" has written')) },
  prints: JSON_OF,
  examples: ['carbon-mirror restore /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const { io, settings } = context;
    const { engine, env, folder: dataDir } = settings();
    const keeping = keepingOf(settings());
    const missing = at(folder).findMissing();
    if (missing !== null) throw notThereFault(`${folder} is no backup: expected ${missing}.`);
    const keyFile = env['EVIDENCE_KEY_FILE'];
    if (!keyFile && existsSync(join(folder, 'evidence.db')))
      throw usageFault(
        'EVIDENCE_KEY_FILE is not set: the log of the backup goes on under a new name, by its key.',
      );
    await keeping.demandAlone();
    const stage = await keeping.openStage();
    try {
      const staged = stage.folder;
      await at(folder).keeping?.copyTo(staged);
      await at(staged).migrate(io.now());
      await check(context, at(staged));
      const aside = join(dataDir, `replaced-${new Date(io.now()).toISOString().replaceAll(':', '.')}`);
      await keeping.replaceBy(staged, aside);
      const kept = await readAll(engine);
      /** Null where what stood there cannot be read any more. */
      const lost = await readAll(at(aside), kept).catch(() => null);
      const evidence = keyFile ? await beginOrigin({ engine }, keyFile, io.now) : null;
      await context.tell(
        { aside, ...kept, lost, evidence },
        `Restored ${folder}: ${told(kept)}.`,
        ...lostIn(aside, lost),
        'What came to nobody since then is not known here: the next scheduled reads find what it announced.',
        ...(evidence === null ? [] : [describeRestored(evidence)]),
      );
    } finally {
      stage.close();
    }
  },
});

export const MOVE = command({
  says: 'Move all files of DATA_DIR into an empty PostgreSQL, and compare them there; every process must be stopped before',
  options: { to: choice('engine', 'where to', ['postgres']) },
  examples: ['MIRROR_DATABASE_URL=postgres://HOST/mirror carbon-mirror move --to postgres'],
  run: async ({ io, say }, { to }) => {
    const store = readStore(io.env);
    if (to === undefined || store.database === null)
      throw usageFault('Expected --to postgres, and MIRROR_DATABASE_URL, which names it.');
    const engine = openEngine({ ...store, database: null });
    const missing = engine.findMissing();
    if (missing !== null || engine.keeping === null)
      throw notThereFault(`There is no mirror in ${store.dataDir}: expected ${missing}.`);
    await engine.keeping.demandAlone();
    const moved = await engine.keeping.moveTo(store.database, io.now());
    say(
      `Moved ${moved.rows} rows and ${moved.certificates} certificates, each compared. ${store.dataDir} is as it was: keep it until you trust the other.`,
    );
  },
});

function keepingOf({ engine }: MirrorLocation): Keeping {
  if (engine.keeping !== null) return engine.keeping;
  throw usageFault([
    'This mirror is in PostgreSQL, whose own tools keep all of it:',
    'pg_dump --format=custom --file=mirror.dump "$MIRROR_DATABASE_URL"',
    "pg_restore --list mirror.dump | grep -v ' SCHEMA - ' > mirror.list",
    'pg_restore --clean --if-exists --single-transaction --use-list=mirror.list --dbname="$MIRROR_DATABASE_URL" mirror.dump',
    'Stop every process of carbon-mirror before the last of these.',
  ]);
}

function at(folder: string) {
  return openEngine({ dataDir: folder, diskReserveMb: 0, database: null });
}

type Files = ReturnType<typeof at>;

/** Throws where anything of it is not whole. The mirror may have seen claims that its inbox, copied before it, has not given. */
async function check({ io }: Context, copy: Files): Promise<{ readonly certificates: number }> {
  await using(copy.openWriters(io.now), async ({ inbox, mirror }) =>
    inbox.raiseClaims((await mirror.readState()).highestClaim),
  );
  const broken = await copy.findBroken(io.now());
  const files = await using(copy.openReader(), reader =>
    using(copy.openPdfs(io.now), ({ pdfs }) => verifyFiles(reader, pdfs, io.interruption())),
  );
  const faults = [
    ...broken.map(({ law, where }) => `${where}: ${law}`),
    ...files.faults.map(({ file, fault }) => `certificates/${file}: ${fault}`),
  ];
  await copy.keeping?.demandAlone();
  if (faults.length === 0) return { certificates: files.checked };
  throw checkFault([`${copy.location} is not whole:`, ...faults.slice(0, 20)]);
}

/** Of it what is newer than what was kept `before`. */
async function readAll(engine: Files, before?: AllKept): Promise<AllKept> {
  return await using(engine.openReader(), reader => readKept(reader, before));
}

function lostIn(aside: string, lost: AllKept | null): string[] {
  if (!existsSync(aside)) return [];
  const known = lost === null ? 'it cannot be read' : `newer than the backup are ${told(lost)}`;
  return [`What stood there is in ${aside}; ${known}.`];
}

function told(kept: AllKept): string {
  return (['deliveries', 'syncs'] as const)
    .map(what => `${kept[what].count} ${what}${kept[what].at === null ? '' : ` up to ${kept[what].at}`}`)
    .join(', ');
}

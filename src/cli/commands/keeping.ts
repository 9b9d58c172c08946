import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type AllKept, readKept } from '../../query/inbox/deliveries.js';
import type { Keeping } from '../../store/engine.js';
import { readStoreSettings } from '../../app/config/config.js';
import { openEngine } from '../../store/open.js';
import { verifyCertificateFiles } from '../certificate-files.js';
import { defineCommand } from '../command.js';
import { type CommandContext, type MirrorLocation } from '../context.js';
import { useAndClose } from '../mirror-location.js';
import { createCheckError, createFileExistsError, createNotFoundError, createUsageError } from '../exit.js';
import { beginNewOrigin, describeRestoredLog } from '../evidence-log.js';
import { defineChoice, makeRequired, defineText } from '../options.js';

const KEY_APART = 'Store the signing key and its .last-signed file separately.';
const JSON_OF = { json: 'print what was done as JSON' };

export const BACKUP = defineCommand({
  summary: 'Write a verified backup to a new folder',
  details: 'Copies inbox, evidence, mirror and certificates while they are in use, then checks the copy.',
  args: { folder: makeRequired(defineText('folder', 'the backup folder; must not exist yet')) },
  formats: JSON_OF,
  examples: ['carbon-mirror backup /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const keeping = keepingOf(context.requireMirror());
    if (existsSync(folder)) throw createFileExistsError(folder);
    await keeping.copyTo(folder);
    const copy = at(folder);
    const { certificates } = await check(context, copy);
    const kept = await readAll(copy);
    await context.printResult(
      { folder, certificates, ...kept },
      `Wrote and verified ${folder}: ${told(kept)}, ${certificates} certificates.`,
      ...(context.requireMirror().env['EVIDENCE_KEY_FILE'] ? [KEY_APART] : []),
    );
  },
});

export const RESTORE = defineCommand({
  summary: 'Replace the current data with a backup',
  details: 'Stop every process of carbon-mirror first. The replaced data is moved aside, not deleted.',
  args: { folder: makeRequired(defineText('folder', 'a folder written by "carbon-mirror backup"')) },
  formats: JSON_OF,
  examples: ['carbon-mirror restore /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const { io, findMirror } = context;
    const { engine, env, folder: dataDir } = findMirror();
    const keeping = keepingOf(findMirror());
    const missing = at(folder).findMissing();
    if (missing !== null) throw createNotFoundError(`${folder} is not a backup: ${missing} is missing.`);
    const keyFile = env['EVIDENCE_KEY_FILE'];
    if (!keyFile && existsSync(join(folder, 'evidence.db')))
      throw createUsageError(
        'EVIDENCE_KEY_FILE is not set. It is needed to continue the evidence log of the backup under a new name.',
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
      const evidence = keyFile ? await beginNewOrigin({ engine }, keyFile, io.now) : null;
      await context.printResult(
        { aside, ...kept, lost, evidence },
        `Restored ${folder}: ${told(kept)}.`,
        ...lostIn(aside, lost),
        'Webhooks sent since then were lost; the next scheduled reads find what they announced.',
        ...(evidence === null ? [] : [describeRestoredLog(evidence)]),
      );
    } finally {
      stage.close();
    }
  },
});

export const MOVE = defineCommand({
  summary: 'Move the mirror from files to PostgreSQL',
  details:
    'Copies everything in DATA_DIR into an empty PostgreSQL database and compares it there. Stop every process of carbon-mirror first.',
  options: { to: defineChoice('engine', 'the target database', ['postgres']) },
  examples: ['MIRROR_DATABASE_URL=postgres://HOST/mirror carbon-mirror move --to postgres'],
  run: async ({ io, printNotice }, { to }) => {
    const store = readStoreSettings(io.env);
    if (to === undefined || store.database === null)
      throw createUsageError('Expected --to postgres, with MIRROR_DATABASE_URL set to the database.');
    const engine = openEngine({ ...store, database: null });
    const missing = engine.findMissing();
    if (missing !== null || engine.keeping === null)
      throw createNotFoundError(`There is no mirror in ${store.dataDir}: ${missing} is missing.`);
    await engine.keeping.demandAlone();
    const moved = await engine.keeping.moveTo(store.database, io.now());
    printNotice(
      `Moved ${moved.rows} rows and ${moved.certificates} certificates, and compared each. ${store.dataDir} is unchanged; keep it until you trust the new database.`,
    );
  },
});

function keepingOf({ engine }: MirrorLocation): Keeping {
  if (engine.keeping !== null) return engine.keeping;
  throw createUsageError([
    'This mirror is in PostgreSQL. Back it up and restore it with the tools of PostgreSQL:',
    'pg_dump --format=custom --file=mirror.dump "$MIRROR_DATABASE_URL"',
    "pg_restore --list mirror.dump | grep -v ' SCHEMA - ' > mirror.list",
    'pg_restore --clean --if-exists --single-transaction --use-list=mirror.list --dbname="$MIRROR_DATABASE_URL" mirror.dump',
    'Stop every process of carbon-mirror before the last command.',
  ]);
}

function at(folder: string) {
  return openEngine({ dataDir: folder, diskReserveMb: 0, database: null });
}

type Files = ReturnType<typeof at>;

/** Throws where anything of it is not whole. The mirror may have seen claims that its inbox, copied before it, has not given. */
async function check({ io }: CommandContext, copy: Files): Promise<{ readonly certificates: number }> {
  await useAndClose(copy.openWriters(io.now), async ({ inbox, mirror }) =>
    inbox.raiseClaims((await mirror.readState()).highestClaim),
  );
  const broken = await copy.findBroken(io.now());
  const files = await useAndClose(copy.openReader(), reader =>
    useAndClose(copy.openPdfs(io.now), ({ pdfs }) =>
      verifyCertificateFiles(reader, pdfs, io.createInterruptSignal()),
    ),
  );
  const faults = [
    ...broken.map(({ law, where }) => `${where}: ${law}`),
    ...files.faults.map(({ file, fault }) => `certificates/${file}: ${fault}`),
  ];
  await copy.keeping?.demandAlone();
  if (faults.length === 0) return { certificates: files.checked };
  throw createCheckError([`${copy.location} is damaged or incomplete:`, ...faults.slice(0, 20)]);
}

/** Of it what is newer than what was kept `before`. */
async function readAll(engine: Files, before?: AllKept): Promise<AllKept> {
  return await useAndClose(engine.openReader(), reader => readKept(reader, before));
}

function lostIn(aside: string, lost: AllKept | null): string[] {
  if (!existsSync(aside)) return [];
  const known = lost === null ? 'It cannot be read.' : `Newer than the backup: ${told(lost)}.`;
  return [`The replaced data is in ${aside}. ${known}`];
}

function told(kept: AllKept): string {
  return (['deliveries', 'syncs'] as const)
    .map(what => `${kept[what].count} ${what}${kept[what].at === null ? '' : ` up to ${kept[what].at}`}`)
    .join(', ');
}

/**
 * `backup`, `restore` and `move`: copy a mirror in files to a folder, from a backup, or into PostgreSQL. Every copy is
 * verified before it counts. `restore` never deletes the data that it replaces, but moves it aside.
 */
import { existsSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type StoredRecordCounts, readKept } from '../../query/inbox/deliveries.js';
import type { BackupStore } from '../../store/engine.js';
import { readStoreSettings } from '../../app/config/read-settings.js';
import { openEngine } from '../../store/open.js';
import { verifyCertificateFiles } from '../certificate-files.js';
import { defineCommand } from '../define-command.js';
import { type CommandContext, type MirrorLocation } from '../context.js';
import { useAndClose } from '../mirror-location.js';
import {
  createCheckError,
  createFileExistsError,
  createNotFoundError,
  createUsageError,
  throwIfInterrupted,
} from '../command-error.js';
import { createProgress } from '../output/progress.js';
import { beginNewOrigin, describeRestoredLog } from '../evidence/restored-log.js';
import { defineChoice, makeRequired, defineText } from '../options.js';

/** The ending of a backup's folder until the backup was checked. */
const UNFINISHED = '.unfinished';
const KEEP_KEY_SEPARATELY = 'Store the signing key and its .last-signed file separately.';
const JSON_FORMAT = { json: 'print what was done as JSON' };

export const BACKUP = defineCommand({
  summary: 'Write a verified backup to a new folder',
  details: 'Copies inbox, evidence, mirror and certificates while they are in use, then checks the copy.',
  args: { folder: makeRequired(defineText('folder', 'the backup folder; must not exist yet')) },
  formats: JSON_FORMAT,
  examples: ['carbon-mirror backup /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const keeping = requireFileBackupStore(context.requireMirror());
    if (existsSync(folder)) throw createFileExistsError(folder);
    /** A backup that was interrupted must not pass for one that was checked. */
    const unfinished = `${resolve(folder)}${UNFINISHED}`;
    if (existsSync(unfinished))
      throw createUsageError(
        `${unfinished} already exists: another backup was interrupted, or still runs.`,
        'If none runs, remove it.',
      );
    const showProgress = createProgress(context.io);
    showProgress(`Copying to ${unfinished}`);
    await keeping.copyTo(unfinished);
    const copy = openFolder(unfinished);
    const { certificates } = await verifyCopiedMirror(context, copy);
    const contents = await readContents(copy);
    renameSync(unfinished, folder);
    await context.printResult(
      { folder, certificates, ...contents },
      `Wrote and verified ${folder}: ${describeContents(contents)}, ${certificates} certificates.`,
      ...(context.requireMirror().env['EVIDENCE_KEY_FILE'] ? [KEEP_KEY_SEPARATELY] : []),
    );
  },
});

export const RESTORE = defineCommand({
  summary: 'Replace the current data with a backup',
  details: 'Stop every process of carbon-mirror first. The replaced data is moved aside, not deleted.',
  args: { folder: makeRequired(defineText('folder', 'a folder written by "carbon-mirror backup"')) },
  formats: JSON_FORMAT,
  examples: ['carbon-mirror restore /backup/2026-01-31'],
  run: async (context, { folder }) => {
    const { io, findMirror } = context;
    const { engine, env, folder: dataDir } = findMirror();
    const keeping = requireFileBackupStore(findMirror());
    const backup = openFolder(folder);
    const missing = backup.findMissing();
    if (missing !== null) throw createNotFoundError(`${folder} is not a backup: ${missing} is missing.`);
    const keyFile = env['EVIDENCE_KEY_FILE'];
    if (!keyFile && existsSync(join(folder, 'evidence.db')))
      throw createUsageError(
        'EVIDENCE_KEY_FILE is not set. It is needed to continue the evidence log of the backup under a new name.',
      );
    await keeping.demandAlone();
    const stage = await keeping.openStage();
    try {
      await backup.keeping?.copyTo(stage.folder);
      const staged = openFolder(stage.folder);
      await staged.migrate(io.now());
      await verifyCopiedMirror(context, staged);
      // From here on the first signal does not end the process: it would leave only a part of the files replaced.
      throwIfInterrupted(io.createInterruptSignal());
      const aside = join(dataDir, `replaced-${new Date(io.now()).toISOString().replaceAll(':', '.')}`);
      await keeping.replaceBy(stage.folder, aside);
      const contents = await readContents(engine);
      /** Null if the replaced data can no longer be read. */
      const lost = await readContents(openFolder(aside), contents).catch(() => null);
      const evidence = keyFile ? await beginNewOrigin({ engine }, keyFile, io.now) : null;
      await context.printResult(
        { aside, ...contents, lost, evidence },
        `Restored ${folder}: ${describeContents(contents)}.`,
        ...describeReplacedData(aside, lost),
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
    'Stop every process of carbon-mirror first. Copies everything in DATA_DIR into an empty PostgreSQL database, then compares both.',
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

/** Returns the backup store of a mirror in files. Throws for a mirror in PostgreSQL. */
function requireFileBackupStore({ engine }: MirrorLocation): BackupStore {
  if (engine.keeping !== null) return engine.keeping;
  throw createUsageError([
    'This mirror is in PostgreSQL. Back it up and restore it with the tools of PostgreSQL:',
    'pg_dump --format=custom --file=mirror.dump "$MIRROR_DATABASE_URL"',
    "pg_restore --list mirror.dump | grep -v ' SCHEMA - ' > mirror.list",
    'pg_restore --clean --if-exists --single-transaction --use-list=mirror.list --dbname="$MIRROR_DATABASE_URL" mirror.dump',
    'Stop every process of carbon-mirror before the last command.',
  ]);
}

/** Returns the storage engine for the databases and certificate files in a folder. */
function openFolder(folder: string) {
  return openEngine({ dataDir: folder, diskReserveMb: 0, database: null });
}

/** The opened databases and certificates of a folder. */
type FileEngine = ReturnType<typeof openFolder>;

/** Checks a copy of the mirror and counts its certificates. Throws if the copy is damaged. */
async function verifyCopiedMirror(
  { io }: CommandContext,
  copy: FileEngine,
): Promise<{ readonly certificates: number }> {
  /** The mirror was copied after the inbox, so it may have accepted claims that the copied inbox never issued. */
  await useAndClose(copy.openWriters(io.now), async ({ inbox, mirror }) =>
    inbox.raiseClaims((await mirror.readState()).highestClaim),
  );
  const showProgress = createProgress(io);
  const broken = await copy.findBroken(io.now(), (checked, total) =>
    showProgress(`Checking the copy: ${checked} of ${total} rules`),
  );
  showProgress('Checking certificates');
  const files = await useAndClose(copy.openReader(), reader =>
    useAndClose(copy.openPdfs(io.now), ({ pdfs }) => verifyCertificateFiles(reader, pdfs)),
  );
  showProgress(null);
  const faults = [
    ...broken.map(({ law, where }) => `${where}: ${law}`),
    ...files.faults.map(({ file, fault }) => `certificates/${file}: ${fault}`),
  ];
  await copy.keeping?.demandAlone();
  if (faults.length === 0) return { certificates: files.checked };
  throw createCheckError([`${copy.location} is damaged or incomplete:`, ...faults.slice(0, 20)]);
}

/**
 * Counts deliveries and syncs, and returns the time of the newest ones. With `since`, counts only newer
 * deliveries and syncs.
 */
async function readContents(engine: FileEngine, since?: StoredRecordCounts): Promise<StoredRecordCounts> {
  return await useAndClose(engine.openReader(), reader => readKept(reader, since));
}

/** Returns a line that says where `restore` moved the old data, or no line if there was no old data. */
function describeReplacedData(
  previousDataFolder: string,
  newerContents: StoredRecordCounts | null,
): string[] {
  if (!existsSync(previousDataFolder)) return [];
  const contents =
    newerContents === null
      ? 'It cannot be read.'
      : `Newer than the backup: ${describeContents(newerContents)}.`;
  return [`The replaced data is in ${previousDataFolder}. ${contents}`];
}

/** Formats counts as a text such as `12 deliveries up to 2026-01-31T10:00:00.000Z, 40 syncs up to ...`. */
function describeContents(contents: StoredRecordCounts): string {
  return (['deliveries', 'syncs'] as const)
    .map(name => {
      const { count, at } = contents[name];
      return `${count} ${name}${at === null ? '' : ` up to ${at}`}`;
    })
    .join(', ');
}

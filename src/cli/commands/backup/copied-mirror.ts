/** Opens, checks and counts a copy of a mirror in files, for `backup` and `restore`: every copy is verified before it counts. */
import { type StoredRecordCounts, countStoredRecords } from '../../../query/inbox/deliveries.js';
import type { BackupStore } from '../../../store/engine.js';
import { openEngine } from '../../../store/open-engine.js';
import { verifyCertificateFiles } from '../../certificate-files.js';
import { type CommandContext, type MirrorContext } from '../../context.js';
import { useAndClose } from '../../mirror-location.js';
import { createCheckError, createUsageError } from '../../command-error.js';
import { createProgress } from '../../output/progress.js';

export const JSON_FORMAT = { json: 'print what was done as JSON' };

/** Returns the object that copies and restores the files of a mirror. Throws for a mirror in PostgreSQL. */
export function requireFileBackupStore({ engine }: MirrorContext): BackupStore {
  if (engine.backup !== null) return engine.backup;
  throw createUsageError([
    'This mirror is in PostgreSQL. Back it up and restore it with the tools of PostgreSQL:',
    'pg_dump --format=custom --file=mirror.dump "$MIRROR_DATABASE_URL"',
    "pg_restore --list mirror.dump | grep -v ' SCHEMA - ' > mirror.list",
    'pg_restore --clean --if-exists --single-transaction --use-list=mirror.list --dbname="$MIRROR_DATABASE_URL" mirror.dump',
    'Stop every process of carbon-mirror before the last command. If there are subscriptions, then run "carbon-mirror subscriptions new-epoch".',
  ]);
}

/** Returns the storage engine for the databases and certificate files in a folder. */
export function openFolder(folder: string) {
  return openEngine({ dataDir: folder, diskReserveMb: 0, database: null });
}

/** The opened databases and certificates of a folder. */
type FileEngine = ReturnType<typeof openFolder>;

/** Checks a copy of the mirror and counts its certificates. Throws if the copy is damaged. */
export async function verifyCopiedMirror(
  { io }: CommandContext,
  copy: FileEngine,
): Promise<{ readonly certificates: number }> {
  /** The mirror was copied after the inbox, so it may have accepted claims that the copied inbox never issued. */
  await useAndClose(copy.openWriterStores(io.now), async ({ inbox, mirror }) =>
    inbox.raiseClaims((await mirror.readMirrorState()).highestClaim),
  );
  const showProgress = createProgress(io);
  const broken = await copy.findConsistencyFaults(io.now(), (checked, total) =>
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
  await copy.backup?.assertNotOpen();
  if (faults.length === 0) return { certificates: files.checked };
  throw createCheckError([`${copy.location} is damaged or incomplete:`, ...faults.slice(0, 20)]);
}

/**
 * Counts deliveries and syncs, and returns the time of the newest ones. With `since`, counts only newer
 * deliveries and syncs.
 */
export async function readContents(
  engine: FileEngine,
  since?: StoredRecordCounts,
): Promise<StoredRecordCounts> {
  return await useAndClose(engine.openReader(), reader => countStoredRecords(reader, since));
}

/** Formats counts as a text such as `12 deliveries up to 2026-01-31T10:00:00.000Z, 40 syncs up to ...`. */
export function describeContents(contents: StoredRecordCounts): string {
  return (['deliveries', 'syncs'] as const)
    .map(name => {
      const { count, at } = contents[name];
      return `${count} ${name}${at === null ? '' : ` up to ${at}`}`;
    })
    .join(', ');
}

import { type Command, Option } from 'commander';
import { readList } from '../../../query/lists.js';
import { CERTIFICATES } from '../../../resources/certificates.js';
import type { ExportOptions } from './export.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { addFile, addFormats, type FileOptions, formatOf } from '../../formats.js';
import { intoFile } from '../../output/into-file.js';
import { aDate, today } from '../../instant.js';
import { type Io, say } from '../../io.js';
import { OF_ORGANIZATION } from '../../named/how-named.js';
import { readLimit } from '../../words.js';
import { organizationOrAll } from '../../named/in-mirror.js';
import { writeRows, writeValue } from '../../output/output.js';
import { findPlace } from '../../place/find-place.js';
import { reading, withPdfs } from '../../place/place.js';

interface ListOptions extends FileOptions {
  readonly organization?: string;
  readonly state?: string;
  readonly limit: string;
}

interface VerifyOptions {
  readonly organization?: string;
  readonly json?: boolean;
}

const STATES = ['pending', 'unavailable', 'stored'];

export function define(program: Command, io: Io): void {
  const group = examples(
    program
      .command('certificates')
      .description('The official PDF of each retirement: list, check, take away'),
    [
      'carbon-mirror certificates list --state unavailable',
      'carbon-mirror certificates verify',
      `carbon-mirror certificates export audit --organization ID --as-of ${today(io)}`,
      '(cd audit && sha256sum -c SHA256SUMS)',
    ],
  );
  const command = group
    .command('list')
    .description('List certificates, newest first')
    .option('--organization <name>', OF_ORGANIZATION)
    .addOption(new Option('--state <state>', 'in one state only').choices(STATES))
    .addOption(new Option('--limit <n>', 'show at most so many, 0 for all').default('100'))
    .action((options: ListOptions) =>
      intoFile({ io, findPlace }, { command: 'certificates list' }, options, list),
    );
  addFile(addFormats(command));
  group
    .command('verify')
    .description(
      'Hash every stored file again and hold it against its row; exit 3 where one is missing or changed',
    )
    .option('--organization <name>', OF_ORGANIZATION)
    .option('--json', 'print the result as JSON')
    .action((options: VerifyOptions) => verify(io, options));
  group
    .command('export')
    .description(
      'Copy PDFs into a new folder, with certificates.csv, SHA256SUMS, and export.json: when it was made, as of when, and how far it can be trusted',
    )
    .argument('<folder>', 'a folder that is empty or not there yet')
    .option('--organization <name>', OF_ORGANIZATION)
    .option('--as-of <date>', `as they stood then: the end of ${aDate(io)}`)
    .option('--json', 'print what was written as JSON')
    .action(async (folder: string, options: ExportOptions) => {
      const { exportCertificates } = await import('./export.js');
      await exportCertificates(io, folder, options);
    });
}

async function list(io: Io, options: ListOptions): Promise<void> {
  const limit = readLimit(options.limit);
  await reading(findPlace(io), async reader => {
    const rows = readList(reader, CERTIFICATES, {
      organizationId: await organizationOrAll(reader, options.organization),
      where: options.state === undefined ? [] : [{ column: 'state', is: options.state }],
      limit: limit || null,
    });
    const shown = await writeRows(io, formatOf(options), CERTIFICATES.shown.columns, rows, {
      keep: ['state', 'retirement_id'],
    });
    if (shown === limit) say(io, `Shown: ${shown}. There may be more: --limit 0 shows all.`);
  });
}

async function verify(io: Io, options: VerifyOptions): Promise<void> {
  const files = await import('./files.js');
  const place = findPlace(io);
  const interrupted = io.interruption();
  const result = await reading(place, async reader => {
    const organizationId = await organizationOrAll(reader, options.organization);
    return await withPdfs(place, io.now, pdfs =>
      files.verifyFiles(reader, pdfs, organizationId, interrupted),
    );
  });
  if (options.json) await writeValue(io, result);
  else if (result.faults.length > 0) {
    const rows = result.faults.map(fault => ({ ...fault }));
    await writeRows(io, 'table', files.FAULT_COLUMNS, rows);
  }
  if (result.unnamed.length > 0) {
    say(io, `${result.unnamed.length} files belong to no row, the first is ${result.unnamed[0]}.`);
  }
  const { checked, bytes, faults } = result;
  if (faults.length === 0) {
    return say(io, `${checked} files, ${(bytes / 1e6).toFixed(1)} MB: each is as it was stored.`);
  }
  throw new CommandFault(
    EXIT.checkFailed,
    `${faults.length} of ${checked} files are not as they were stored.`,
    'Restore them from a backup, or fetch them again: "carbon-mirror sync --resource certificates --full".',
  );
}

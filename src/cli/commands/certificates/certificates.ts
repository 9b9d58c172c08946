import { CERTIFICATES as LIST } from '../../../query/lists/lists.js';
import { command, type CommandGroup } from '../../command.js';
import { checkFault } from '../../exit.js';
import { listCommand } from '../../lists/list.js';
import { organizationOrAll } from '../../find/in-mirror.js';
import { date, needed, ORGANIZATION, text } from '../../taken.js';

const verify = command({
  says: 'Hash every stored file again and compare it with its row; exit with 3 when one is missing or changed',
  options: { organization: ORGANIZATION },
  prints: { json: 'print the result as JSON' },
  run: async (context, { organization }) => {
    const { FAULT_COLUMNS, verifyFiles } = await import('./files.js');
    const interrupted = context.io.interruption();
    const reader = await context.reader();
    const organizationId = await organizationOrAll(reader, organization);
    const result = await verifyFiles(reader, await context.pdfs(), organizationId, interrupted);
    const { checked, bytes, faults, unnamed } = result;
    if (context.format === 'json') await context.value(result);
    else if (faults.length > 0) await context.rows(FAULT_COLUMNS, faults);
    if (unnamed.length > 0)
      context.say(`${unnamed.length} files belong to no row, the first is ${unnamed[0]}.`);
    if (faults.length === 0)
      return context.say(`${checked} files, ${(bytes / 1e6).toFixed(1)} MB: each is as it was stored.`);
    throw checkFault(
      `${faults.length} of ${checked} files are not as they were stored.`,
      'Restore them from a backup, or fetch them again: "carbon-mirror sync --resource certificates --full".',
    );
  },
});

const exportAll = command({
  says: 'Copy PDFs into a new folder, with certificates.csv, SHA256SUMS, and export.json: when it was made, as of when, and how far it can be trusted',
  words: { folder: needed(text('folder', 'a folder that is empty or not there yet')) },
  options: { organization: ORGANIZATION, asOf: date('as they stood then: the end of') },
  prints: { json: 'print what was written as JSON' },
  run: async (context, { folder, organization, asOf }) => {
    const { exportCertificates } = await import('./files.js');
    await exportCertificates(context, folder, organization, asOf?.to ?? null);
  },
});

export const CERTIFICATES: CommandGroup = {
  says: LIST.says,
  examples: today => [
    'carbon-mirror certificates list --state unavailable',
    'carbon-mirror certificates verify',
    `carbon-mirror certificates export audit --organization ID --as-of ${today}`,
    '(cd audit && sha256sum -c SHA256SUMS)',
  ],
  commands: { list: listCommand(LIST), verify, export: exportAll },
};

import { CERTIFICATES as LIST } from '../../../query/lists/lists.js';
import { command, type CommandGroup } from '../../command.js';
import { listCommand } from '../../lists/list.js';
import { showCommand } from '../../lists/show.js';
import { CERTIFICATES as OF_CERTIFICATES } from '../../../resources/certificates.js';
import { date, needed, ORGANIZATION, text } from '../../options.js';

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
    'carbon-mirror certificates show RETIREMENT',
    `carbon-mirror certificates export audit --organization ID --as-of ${today}`,
    '(cd audit && sha256sum -c SHA256SUMS)',
  ],
  commands: { list: listCommand(LIST), show: showCommand(LIST, OF_CERTIFICATES), export: exportAll },
};

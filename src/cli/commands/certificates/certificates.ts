import { command } from '../../command.js';
import { date, needed, ORGANIZATION, text } from '../../options.js';

export const EXPORT = command({
  says: 'Copy PDFs into a new folder, with certificates.csv, SHA256SUMS, and export.json: when it was made, as of when, and how far it can be trusted',
  words: { folder: needed(text('folder', 'a folder that is empty or not there yet')) },
  options: { organization: ORGANIZATION, asOf: date('as they stood then: the end of') },
  prints: { json: 'print what was written as JSON' },
  run: async (context, { folder, organization, asOf }) => {
    const { exportCertificates } = await import('./files.js');
    await exportCertificates(context, folder, organization, asOf?.to ?? null);
  },
});

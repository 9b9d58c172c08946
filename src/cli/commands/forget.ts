import { isMemberRowOf, containsEmail, normalizeEmail } from '../../mirror/email-matching.js';
import { readMemberNumbers, readMentions } from '../../query/people.js';
import { command } from '../command.js';
import { usageFault } from '../exit.js';
import { eraseSealed } from '../sealed.js';
import { needed, OLDER_COPIES, text } from '../options.js';
import { describeOlderCopy } from '../older-copies.js';

export const FORGET = command({
  says: 'Remove a person from the members, from their history, and from the webhooks that name the e-mail address',
  options: { person: needed(text('email', "the person's e-mail address")), vacuum: OLDER_COPIES },
  prints: { json: 'print what was removed as JSON' },
  examples: ['carbon-mirror forget --person someone@example.org'],
  run: async (context, { person, vacuum }) => {
    const address = normalizeEmail(person);
    if (!/^[^\s@]+@[^\s@]+$/.test(address))
      throw usageFault(`--person: expected an e-mail address, got "${person}".`);
    const { forgetTexts } = await import('../../inbox/forget.js');
    const { inbox, mirror, reader, erase } = await context.writers();
    const memberRows = await eraseSealed(
      context,
      'forget',
      async () => ({
        kind: 'change',
        numbers: await readMemberNumbers(reader, member => isMemberRowOf(member, address)),
      }),
      () => mirror.forget(address),
    );
    const { texts, deliveries } = await forgetTexts(inbox, content => containsEmail(content, address));
    const { vacuumed, logEmptied, left } = await erase(vacuum);
    const mentions = await readMentions(reader, document => containsEmail(document, address));
    const olderCopies = await context.location().engine.findOlderCopies();
    await context.tell(
      {
        memberRows,
        signedTexts: texts,
        deliveries,
        logsEmptied: logEmptied,
        vacuumed,
        mentions,
        olderCopies,
      },
      `Removed ${memberRows} rows of members, past ones included. Later reads leave the person out.`,
      `Emptied ${texts} signed texts of ${deliveries} deliveries; their digests, times and jobs stay.`,
      'A later webhook that names the person is stored as it comes: run this again then.',
      ...mentions.map(
        ({ table, rows }) =>
          `NOT removed: ${rows} rows of ${table} name the address in the registry's own words.`,
      ),
      ...left,
      ...olderCopies.map(describeOlderCopy),
      'Certificates (PDFs), backups and snapshots are not touched: look for the person there yourself.',
    );
  },
});

import { isRowOfPerson, containsEmail, normalizeEmail } from '../../mirror/forgotten-people.js';
import { readMemberChangeNumbers, countMentions } from '../../query/people.js';
import { defineCommand } from '../define-command.js';
import { formatCount } from '../../text/numbers.js';
import { createUsageError } from '../command-error.js';
import { eraseWithEvidence } from '../evidence/evidence-log.js';
import { makeRequired, VACUUM_OPTION, defineText } from '../options.js';
import { describeUntouchedCopy } from '../older-copies.js';

export const FORGET = defineCommand({
  summary: 'Remove a person from the mirror',
  details:
    'Removes the person from the lists of members and their history. Empties stored webhooks that contain the e-mail address, and erases it from orders.',
  options: {
    person: makeRequired(defineText('email', "the person's e-mail address")),
    vacuum: VACUUM_OPTION,
  },
  formats: { json: 'print what was removed as JSON' },
  examples: ['carbon-mirror forget --person someone@example.org'],
  run: async (context, { person, vacuum }) => {
    const address = normalizeEmail(person);
    if (!/^[^\s@]+@[^\s@]+$/.test(address))
      throw createUsageError(`--person: expected an e-mail address, got "${person}".`);
    const { eraseMatchingTexts } = await import('../../inbox/erase-texts.js');
    const { inbox, mirror, reader, erase } = await context.openWriters();
    const memberRows = await eraseWithEvidence(
      context,
      'forget',
      async () => ({
        kind: 'change',
        numbers: await readMemberChangeNumbers(reader, member => isRowOfPerson(member, address)),
      }),
      () => mirror.forget(address),
    );
    const { texts, deliveries } = await eraseMatchingTexts(inbox, content => containsEmail(content, address));
    const { eraseMatchingOrderTexts } = await import('../../inbox/erase-texts.js');
    const orders = await eraseMatchingOrderTexts(inbox, text => containsEmail(text, address));
    const { vacuumed, logEmptied, remainingCopies } = await erase(vacuum);
    const mentions = await countMentions(reader, document => containsEmail(document, address));
    const olderCopies = await context.requireMirror().engine.findOlderCopies();
    await context.printResult(
      {
        memberRows,
        signedTexts: texts,
        deliveries,
        orders: orders.erased,
        waitingOrders: orders.waiting,
        logsEmptied: logEmptied,
        vacuumed,
        mentions,
        olderCopies,
      },
      `Removed ${memberRows} member rows, including past versions. Future reads skip this person.`,
      `Emptied ${texts} signed texts of ${deliveries} deliveries. Their digests, times and jobs remain.`,
      `Erased the address from ${formatCount(orders.erased, 'order')} of the console.`,
      ...(orders.waiting === 0
        ? []
        : [
            `NOT removed: ${formatCount(orders.waiting, 'order')} of the console will be sent with the address. Run this command again in ten minutes.`,
          ]),
      'A later webhook that names the person is stored unchanged. Run this command again if one arrives.',
      ...mentions.map(
        ({ table, rows }) => `NOT removed: ${rows} rows of ${table} contain the address in registry data.`,
      ),
      ...remainingCopies,
      ...olderCopies.map(describeUntouchedCopy),
      'Certificate PDFs, backups and snapshots were not changed. Check them yourself.',
    );
  },
});

import type { Command } from 'commander';
import { namesAddress, normalAddress } from '../../mirror/person.js';
import { type Mention, readMentions } from '../../query/mentions.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, say } from '../io.js';
import { writeValue } from '../output/output.js';
import { findPlace } from '../place/find-place.js';

interface ForgetOptions {
  readonly person: string;
  readonly vacuum?: boolean;
  readonly json?: boolean;
}

interface Forgotten {
  readonly memberRows: number;
  readonly signedTexts: number;
  readonly deliveries: number;
  readonly logsEmptied: boolean;
  readonly vacuumed: boolean;
  /** The registry's own objects that name the address too. They are not changed. */
  readonly mentions: readonly Mention[];
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('forget')
    .description(
      'Remove a person from members and their history, and from the webhooks that name the address',
    )
    .requiredOption('--person <email>', "the person's e-mail address")
    .option(
      '--vacuum',
      'rewrite both files, so that no older copy stays in them, or vacuum the tables of PostgreSQL; done unless it is left out',
    )
    .option('--no-vacuum', 'leave older copies in unused parts of the files, so that no writer has to wait')
    .option('--json', 'print what was removed as JSON')
    .action((options: ForgetOptions) => forget(io, options));
  examples(command, [
    'carbon-mirror forget --person someone@example.org',
    'carbon-mirror forget --person someone@example.org --json',
  ]);
}

async function forget(io: Io, options: ForgetOptions): Promise<void> {
  const address = normalAddress(options.person);
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) {
    throw new CommandFault(EXIT.usage, `--person: expected an e-mail address, got "${options.person}".`);
  }
  const { forgotten, left } = await remove(io, address, options.vacuum !== false);
  if (options.json) await writeValue(io, forgotten);
  for (const line of describe(forgotten, left)) say(io, line);
}

async function remove(io: Io, address: string, vacuum: boolean) {
  const { withWriters } = await import('../place/mirror-writer.js');
  const { forgetTexts } = await import('../../inbox/forget.js');
  return await withWriters(findPlace(io), io.now, async ({ inbox, mirror, reader, erase }) => {
    const memberRows = await mirror.forget(address);
    const { texts, deliveries } = await forgetTexts(inbox, content => namesAddress(content, address));
    const { vacuumed, logEmptied, left } = await erase(vacuum);
    const forgotten: Forgotten = {
      memberRows,
      signedTexts: texts,
      deliveries,
      logsEmptied: logEmptied,
      vacuumed,
      mentions: await readMentions(reader, document => namesAddress(document, address)),
    };
    return { forgotten, left };
  });
}

function describe(forgotten: Forgotten, left: readonly string[]): string[] {
  const { memberRows, signedTexts, deliveries, mentions } = forgotten;
  const lines = [
    `Removed ${memberRows} rows of members, past ones included. Later reads leave the person out.`,
    `Emptied ${signedTexts} signed texts of ${deliveries} deliveries; their digests, times and jobs stay.`,
    'A later webhook that names the person is stored as it comes: run this again then.',
  ];
  for (const { table, rows } of mentions) {
    lines.push(`NOT removed: ${rows} rows of ${table} name the address in the registry's own words.`);
  }
  return [
    ...lines,
    ...left,
    'Certificates (PDFs), backups and snapshots are not touched: look for the person there yourself.',
  ];
}

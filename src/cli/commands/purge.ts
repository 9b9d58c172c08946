import type { Command } from 'commander';
import { installationJob } from '../../inbox/job.js';
import { type Purgeable, readPurgeable } from '../../query/mentions.js';
import { examples } from '../command.js';
import { CommandFault, EXIT } from '../exit.js';
import { type Io, say } from '../io.js';
import { HOW_NAMED } from '../named/how-named.js';
import { organizationIn } from '../named/in-mirror.js';
import { writeValue } from '../output/output.js';
import { findPlace } from '../place/find-place.js';
import { reading, type Place } from '../place/place.js';

interface PurgeOptions {
  readonly organization: string;
  readonly confirm: string;
  readonly force?: boolean;
  readonly vacuum?: boolean;
  readonly json?: boolean;
}

export function define(program: Command, io: Io): void {
  const command = program
    .command('purge')
    .description('Remove all that was mirrored for one organization: rows, history and certificate files')
    .requiredOption('--organization <name>', `the organization: ${HOW_NAMED}`)
    .requiredOption('--confirm <name>', 'its exact name, to say that it is meant')
    .option('--force', 'even while the app is installed there; the next read brings it back')
    .option('--no-vacuum', 'leave older copies in unused parts of the files, so that no writer has to wait')
    .option('--json', 'print what was removed as JSON')
    .action((options: PurgeOptions) => purge(io, options));
  examples(command, [
    'carbon-mirror purge --organization ID --confirm "Harbour Ferries"',
    'carbon-mirror status   # shows which organizations are uninstalled',
  ]);
}

async function purge(io: Io, options: PurgeOptions): Promise<void> {
  const place = findPlace(io);
  const found = await find(place, options.organization);
  demandMeant(found, options);
  const { withWriters } = await import('../place/mirror-writer.js');
  const { forgetTexts } = await import('../../inbox/forget.js');
  const { organizationId, name } = found;
  const { files, texts, erased } = await withWriters(
    place,
    io.now,
    async ({ inbox, mirror, pdfs, erase }) => {
      const takeClaim = async () => inbox.takeClaim(await mirror.highestClaim());
      const purged = await mirror.purge({ organizationId, takeClaim, pdfs });
      await inbox.enqueue(purged.installations.map(id => installationJob(id, organizationId, 'person')));
      const { texts: signed } = await forgetTexts(inbox, content => content.includes(organizationId));
      return { files: purged.files, texts: signed, erased: await erase(options.vacuum !== false) };
    },
  );
  const { vacuumed, logEmptied, left } = erased;
  if (options.json) {
    const counts = { certificateFiles: files, signedTexts: texts };
    await writeValue(io, { organizationId, name, ...counts, logEmptied, vacuumed });
  }
  say(io, `Removed all that was mirrored for ${name}, and ${files} certificate files.`);
  say(
    io,
    `Emptied ${texts} signed texts of webhooks; their times, digests and jobs stay until RETENTION_DAYS.`,
  );
  say(io, 'Backups and snapshots are not touched, nor what other organizations name it in.');
  say(io, ...left);
  if (found.state !== 'uninstalled')
    say(io, 'The app is still installed there: the next read brings it back.');
}

async function find(place: Place, named: string): Promise<Purgeable> {
  return await reading(
    place,
    async reader => await readPurgeable(reader, await organizationIn(reader, named)),
  );
}

function demandMeant({ name, state }: Purgeable, { confirm, force }: PurgeOptions): void {
  if (confirm !== name) {
    throw new CommandFault(
      EXIT.usage,
      `--confirm: expected the organization's exact name, "${name}", got "${confirm}".`,
      'Nothing was removed.',
    );
  }
  if (state !== 'active' || force === true) return;
  throw new CommandFault(
    EXIT.checkFailed,
    `The app is active on ${name}: the next read would bring everything back. Nothing was removed.`,
    'Uninstall the app there first, or add --force.',
  );
}

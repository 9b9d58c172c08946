import { setTimeout as sleep } from 'node:timers/promises';
import { readMirrored } from '../../../query/mirrored.js';
import { invitation, type KnownConsole, pagesAt } from '../../console-address.js';
import { type Io, say } from '../../io.js';
import { locationAt } from '../../connect/find-mirror.js';
import { reading } from '../../connect/mirror-location.js';

const POLL_MS = 250;

interface Demo {
  readonly folder: string;
  readonly registryUrl: string;
  readonly webhookUrl: string;
  /** Null where none could be started. */
  readonly console: KnownConsole | null;
}

export function introduce(io: Io, { folder, registryUrl, webhookUrl, console: known }: Demo): void {
  const { files } = locationAt(io, folder, io.env, true).engine;
  const pages = known === null ? {} : { console: pagesAt(known.port) };
  const where = Object.entries({ ...pages, registry: registryUrl, webhooks: webhookUrl, ...files });
  const command = commandOf(io);
  const lines = `
This is a DEMO: a made-up registry on this machine, with made-up organizations. No real data, no account.

${where.map(([name, address]) => `  ${name.padEnd(12)}  ${address}`).join('\n')}

Try in a second shell:

  ${command} status
  ${command} available
  ${command} query "select count(*) from retirements"

Ctrl-C stops everything; the next start goes on from here.
`;
  say(io, ...lines.split('\n'));
}

/** A second shell has not the settings of this one. */
function commandOf({ env }: Io): string {
  const command = 'npx carbon-mirror';
  const folder = env['DATA_DIR'];
  if (!folder) return command;
  const word = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return `DATA_DIR=${word} ${command}`;
}

/** Say once that all of so many organizations are read, what is there, and at last where to look at it. */
export async function tellWhenReady(
  io: Io,
  { folder, console: known }: Pick<Demo, 'folder' | 'console'>,
  organizations: number,
  stopping: AbortSignal,
): Promise<void> {
  await reading(locationAt(io, folder, io.env, true), async reader => {
    while (!stopping.aborted) {
      const there = await readMirrored(reader);
      if (there.organizations >= organizations && there.unread === 0) {
        const { credits, retirements, certificates } = there;
        return say(
          io,
          `Ready: ${there.organizations} organizations, ${credits} credits, ${retirements} retirements and ${certificates} certificates are mirrored.`,
          ...(known === null ? [] : invitation(known, io, commandOf(io))),
        );
      }
      await sleep(POLL_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
    return undefined;
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { readMirrored } from '../../../query/mirrored.js';
import { invitation, type KnownConsole } from '../../console-address.js';
import { type Io, say } from '../../io.js';
import { placeAt } from '../../place/find-place.js';
import { reading } from '../../place/place.js';

const POLL_MS = 250;

interface Demo {
  readonly folder: string;
  readonly registryUrl: string;
  readonly webhookUrl: string;
  /** Null where none could be started. */
  readonly console: KnownConsole | null;
}

export function introduce(io: Io, { folder, registryUrl, webhookUrl, console: known }: Demo): void {
  const { files } = placeAt(io, folder, io.env, true).engine;
  const where = Object.entries(files).map(([name, file]) => `  ${name.padEnd(12)}  ${file}`);
  const command = `${whereOf(io)}npx carbon-mirror`;
  const lines = `
${known === null ? '' : `${invitation(known, io, command)}\n\n`}This is a DEMO: a made-up registry on this machine, with made-up organizations. No real data, no account.

  registry      ${registryUrl}
  webhooks      ${webhookUrl}
${where.join('\n')}

Try in a second shell:

  ${command} status
  ${command} available
  ${command} query "select count(*) from retirements"

Ctrl-C stops everything; the next start goes on from here.
`;
  say(io, ...lines.split('\n'));
}

/** A second shell has not the settings of this one. */
function whereOf({ env }: Io): string {
  const folder = env['DATA_DIR'];
  if (!folder) return '';
  return /^[\w./-]+$/.test(folder) ? `DATA_DIR=${folder} ` : `DATA_DIR='${folder.replaceAll("'", "'\\''")}' `;
}

/** Say once that all of so many organizations are read, and what is there. */
export async function tellWhenReady(
  io: Io,
  folder: string,
  organizations: number,
  stopping: AbortSignal,
): Promise<void> {
  await reading(placeAt(io, folder, io.env, true), async reader => {
    while (!stopping.aborted) {
      const there = await readMirrored(reader);
      if (there.organizations >= organizations && there.unread === 0) {
        const { credits, retirements, certificates } = there;
        return say(
          io,
          `Ready: ${there.organizations} organizations, ${credits} credits, ${retirements} retirements and ${certificates} certificates are mirrored.`,
        );
      }
      await sleep(POLL_MS, undefined, { signal: stopping }).catch(() => undefined);
    }
    return undefined;
  });
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Errands } from '../../console/acts/errands.js';
import { describeDisk } from '../../engines/contract/disk.js';
import { PACKAGE } from '../../package.js';
import { EXIT } from '../exit.js';
import type { Io } from '../io.js';
import { makeCopyFolder, sweepCopies } from '../place/copies.js';
import type { Place } from '../place/place.js';

const MAIN = fileURLToPath(new URL('dist/main.js', PACKAGE));
/** What a console that was killed has left. */
const OLD_MS = 86_400_000;

/** Commands of ours as processes of their own, over the same mirror. Each is killed with its signal: it holds nothing that others need. */
export function createErrands(
  io: Pick<Io, 'env' | 'now'>,
  { folder, engine }: Pick<Place, 'folder' | 'engine'>,
): Errands {
  async function run(argv: readonly string[], signal: AbortSignal) {
    signal.throwIfAborted();
    const child = spawn(process.execPath, [MAIN, ...argv], {
      env: { ...io.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const kill = () => void child.kill('SIGKILL');
    signal.addEventListener('abort', kill, { once: true });
    const closed = once(child, 'close');
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    signal.removeEventListener('abort', kill);
    signal.throwIfAborted();
    return { exitCode: child.exitCode, says: [out, err].join('').trim() };
  }

  async function snapshot(signal: AbortSignal) {
    const within = makeCopyFolder(folder);
    try {
      const file = join(within, 'mirror.db');
      const { exitCode, says } = await run(['snapshot', file], signal);
      if (exitCode !== EXIT.ok) throw new Error(`the copy was not made: ${says}`);
      const handle = await open(file);
      const { size } = await handle.stat();
      return { bytes: size, body: handle.createReadStream() };
    } finally {
      rmSync(within, { recursive: true, force: true });
    }
  }

  return {
    verify: async signal => {
      const { exitCode, says } = await run(['verify'], signal);
      const isWhole = exitCode === EXIT.ok;
      if (!isWhole && exitCode !== EXIT.checkFailed) throw new Error(`nothing was checked: ${says}`);
      return { isWhole, says };
    },
    copy: async signal => {
      sweepCopies(folder, io.now() - OLD_MS);
      const fault = findNoRoom(engine);
      if (fault !== null) return { fault };
      const at = new Date(io.now()).toISOString().slice(0, 'YYYY-MM-DDTHH'.length);
      return { name: `mirror-${at}.db`, ...(await snapshot(signal)) };
    },
  };
}

/** A copy is as large as the mirror at most, and must leave what is kept for deliveries. */
function findNoRoom(engine: Place['engine']): string | null {
  const disk = engine.lookAtDisk();
  const mirror = engine.files['mirror'];
  if (disk === null || mirror === undefined) return null;
  const { size } = statSync(mirror);
  if (disk.freeBytes - size > disk.reserveBytes) return null;
  return `There is no room here for a copy of ${(size / 1e6).toFixed(1)} MB: ${describeDisk(disk)}.`;
}

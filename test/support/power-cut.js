// Cuts the power of a receiver: only what was flushed to disk survives.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killReceiver } from './kill-receiver.js';

/** @import { KillOptions } from './kill-receiver.js' */

const SHIM = fileURLToPath(new URL('../torture/power-cut.c', import.meta.url));

/** Whether this machine can compile the shim. */
export function canCutPower() {
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
}

/**
 * Cuts the power several times. Each receiver starts with an empty folder, and its surviving files are examined after the cut.
 * @param {Pick<KillOptions, 'folder' | 'connections' | 'answeredPerLife' | 'mutant'> & { readonly cuts: number }} options
 */
export async function cutPower({ folder, cuts, connections, answeredPerLife, mutant = '' }) {
  const shim = join(folder, 'power-cut.so');
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', shim, SHIM, '-ldl']);
  const total = { cuts, cutsThatLost: 0, acknowledged: 0, lost: 0, halfWritten: 0 };
  for (let cut = 0; cut < cuts; cut += 1) {
    const life = mkdtempSync(join(folder, 'life-'));
    const shadow = join(life, 'flushed');
    mkdirSync(shadow);
    const data = join(life, 'data');
    mkdirSync(data);
    const result = await killReceiver({
      folder: data,
      kills: 1,
      connections,
      answeredPerLife,
      mutant,
      environment: { LD_PRELOAD: shim, POWER_FOLDER: data, POWER_SHADOW: shadow },
      recover: () => copySurvivors(shadow, join(life, 'survivor')),
    });
    total.acknowledged += result.acknowledged;
    total.lost += result.lost;
    total.halfWritten += result.halfWritten;
    if (result.lost > 0) total.cutsThatLost += 1;
    rmSync(life, { recursive: true });
  }
  return total;
}

/**
 * @param {string} shadow
 * @param {string} survivor
 */
function copySurvivors(shadow, survivor) {
  cpSync(shadow, survivor, { recursive: true });
  return survivor;
}

import { existsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Io } from '../../io.js';
import { demoFolder, demoSettingsFile, meansDemo } from '../../connect/find-mirror.js';

const LOOK_EVERY_MS = 50;
/** From "npm start" to the demo's folder, on a busy machine. */
const FOLDER_MS = 3_000;
/** From there to its settings: a whole registry is made meanwhile. A folder older than that is of a demo that never came to be. */
const SETTINGS_MS = 20_000;

/**
 * Waits for a demo that is just being started, and answers whether one came. Whoever names a registry or a folder
 * means a mirror of their own: nothing is waited for.
 */
export async function demoComes(io: Pick<Io, 'env' | 'now'>): Promise<boolean> {
  if (!meansDemo(io.env) || io.env['DATA_DIR']) return false;
  const folder = demoFolder(io.env);
  if (!(await appears(folder, FOLDER_MS)) || !isYoung(folder, io.now())) return false;
  return appears(demoSettingsFile(folder), SETTINGS_MS);
}

async function appears(path: string, withinMs: number): Promise<boolean> {
  for (let leftMs = withinMs; leftMs > 0 && !existsSync(path); leftMs -= LOOK_EVERY_MS) {
    await sleep(LOOK_EVERY_MS);
  }
  return existsSync(path);
}

function isYoung(folder: string, now: number): boolean {
  const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Math.abs(now - changedAt) < SETTINGS_MS;
}

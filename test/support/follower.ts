import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { changesSince } from './changes.js';
import { changing } from './changing.js';
import type { Scene } from './mirror.js';
import { createRandom } from './random.js';

const LIVES = 4;

interface Follower {
  readonly program: string;
  /** Where the mirror stands. */
  readonly env: Readonly<Record<string, string>>;
}

/** Follows by a process that is killed at random, and goes on after the last whole line: the numbers that it told. */
export async function followKilled(
  scene: Omit<Scene, 'handle'>,
  { program, env }: Follower,
  seed: number,
): Promise<number[]> {
  const random = createRandom(seed);
  const { change } = changing(scene, seed);
  const seen: number[] = [];
  for (let life = 1; life <= LIVES; life += 1) {
    const words = ['changes', '--follow', '--after', String(seen.at(-1) ?? 0)];
    const follower = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: follower.stdout }).on('line', line => seen.push(JSON.parse(line).number));
    await once(follower.stderr, 'data');
    const stop = life === LIVES ? 6 : Math.ceil(random() * 6);
    for (let step = 0; step < stop; step += 1) await change();
    const newest = (await changesSince(scene.db, 0)).at(-1)?.number ?? 0;
    if (life === LIVES) await expect.poll(() => seen.at(-1), { timeout: 20_000 }).toBe(newest);
    else await new Promise(resolve => setTimeout(resolve, random() * 400));
    follower.kill('SIGKILL');
    await once(follower, 'close');
  }
  return seen;
}

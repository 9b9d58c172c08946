// Starts processes of a benchmark, and ends them with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));

/** @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set();

/**
 * Runs a benchmark with a folder of its own. At the end, the folder is removed and all started processes are ended.
 * @param {(folder: string) => Promise<void>} measure
 */
export async function withFolder(measure) {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-bench-'));
  try {
    await measure(folder);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {readonly string[]} argv
 * @param {import("node:child_process").SpawnOptions} [options]
 */
export function start(argv, options = {}) {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/**
 * Starts a process of the benchmark, and returns it with the first line that it printed.
 * @param {string} part
 * @param {readonly string[]} args
 */
export async function startChild(part, args) {
  const child = start([partOf(part), ...args]);
  if (child.stdout === null) throw new Error(`${part} has no output to read`);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${part} ended with ${code} before it was ready`);
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return { process: child, firstLine: String(line).trim() };
}

/**
 * Runs a process of the benchmark to its end. Returns the objects that it printed, one per line.
 * @template Result
 * @param {string} part
 * @param {object} task
 * @returns {Promise<Result[]>}
 */
export async function runChild(part, task) {
  const child = start([partOf(part), JSON.stringify(task)]);
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${part} ended with ${code}`);
  return text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
}

/** @param {string} name */
function partOf(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { RegistryComparer, ComparisonResult } from '../../console/registry-comparison.js';
import type { Io } from '../io.js';
import { getValueAtPath } from '../value-at-path.js';
import { MAIN_FILE } from './supervised-child.js';

/** A comparison as `verify --json` prints it. */
interface PrintedComparison extends Omit<ComparisonResult, 'uncompared'> {
  readonly not_compared: ComparisonResult['uncompared'];
}

/** Creates a function that compares mirror and registry in a child process. */
export function createRegistryComparer(getSettings: () => Promise<Io['env']>): RegistryComparer {
  return async (reportProgress, stopping) => {
    const child = fork(MAIN_FILE, ['verify', '--against-registry', '--json'], {
      env: { ...(await getSettings()) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const stopChild = () => void child.kill('SIGTERM');
    stopping.addEventListener('abort', stopChild, { once: true });
    child.on('message', message => reportProgress(String(getValueAtPath(message, 'reading'))));
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('the output of "verify" was not piped');
    const [json, errors] = await Promise.all([text(stdout), text(stderr), once(child, 'close')]);
    stopping.removeEventListener('abort', stopChild);
    if (json === '') throw new Error(errors.split('\n')[0] || 'it was stopped');
    const {
      faults,
      rows,
      organizations,
      known,
      not_compared: uncompared,
    }: PrintedComparison = JSON.parse(json);
    return { faults, rows, organizations, known, uncompared };
  };
}

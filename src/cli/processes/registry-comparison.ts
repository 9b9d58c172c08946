import { fork } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Compare, ComparisonResult } from '../../console/comparison.js';
import type { Io } from '../io.js';
import { getValueAtPath } from '../value-at-path.js';
import { MAIN_FILE } from './supervised-child.js';

/** As the command prints it. */
interface PrintedComparison extends Omit<ComparisonResult, 'uncompared'> {
  readonly not_compared: ComparisonResult['uncompared'];
}

/** `verify --against-registry` as a process of its own, by the settings of somebody who may ask the registry. */
export function createRegistryComparison(settings: () => Promise<Io['env']>): Compare {
  return async (reportProgress, stopping) => {
    const child = fork(MAIN_FILE, ['verify', '--against-registry', '--json'], {
      env: { ...(await settings()) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const stop = () => void child.kill('SIGTERM');
    stopping.addEventListener('abort', stop, { once: true });
    child.on('message', message => reportProgress(String(getValueAtPath(message, 'reading'))));
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('its output is not heard');
    const [result, said] = await Promise.all([text(stdout), text(stderr), once(child, 'close')]);
    stopping.removeEventListener('abort', stop);
    if (result === '') throw new Error(said.split('\n')[0] || 'it was stopped');
    const { faults, rows, organizations, known, not_compared: left }: PrintedComparison = JSON.parse(result);
    return { faults, rows, organizations, known, uncompared: left };
  };
}

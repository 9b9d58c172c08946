import { statSync } from 'node:fs';
import { SETTINGS } from '../app/config/settings-table.js';
import { type Finding, warn } from '../store/contract/finding.js';
import type { Io } from './io.js';
import { isLoopbackHost } from '../text/loopback.js';

const CHECK = 'exposure';

/** Permission bits of everybody but the owner. */
const NON_OWNER_BITS = 0o077;

/** Settings whose value is the path of a file that holds a secret. */
const SECRET_FILE_SETTINGS = [
  ...SETTINGS.flatMap(({ name, secret }) => (secret ? [`${name}_FILE`] : [])),
  'EVIDENCE_KEY_FILE',
  'EVENTS_KEY_FILE',
];

/** Returns warnings about files and ports that other users or machines can access. */
export function findExposures({ env, secretFiles }: Pick<Io, 'env' | 'secretFiles'>): Finding[] {
  const host = env['OPERATIONS_HOST'] || '127.0.0.1';
  const isPortExposed = env['OPERATIONS_PORT'] !== '0' && !isLoopbackHost(host);
  const message = `OPERATIONS_HOST is ${host}: other machines can read livez, readyz and metrics`;
  const advice =
    'Restrict that port to your monitoring, or set OPERATIONS_HOST to 127.0.0.1 (docs/security.md).';
  return [
    ...checkPermissions('DATA_DIR', env['DATA_DIR'] || 'data', '700'),
    ...SECRET_FILE_SETTINGS.flatMap(name => checkPermissions(`the file of ${name}`, env[name], '600')),
    ...findExposedEnvFiles(secretFiles),
    ...(isPortExposed ? [warn(CHECK, message, advice)] : []),
  ];
}

/** Returns warnings about files of `--env-file` that other users can read. */
export function findExposedEnvFiles(files: readonly string[]): Finding[] {
  return files.flatMap(file => checkPermissions('the file of --env-file', file, '600'));
}

/** Returns a warning if other users can access a file or folder. Ignores a missing file. */
function checkPermissions(label: string, path: string | undefined, privateMode: string): Finding[] {
  const stats = path ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const mode = (stats?.mode ?? 0) & 0o777;
  if ((mode & NON_OWNER_BITS) === 0) return [];
  return [
    warn(
      CHECK,
      `${label} is accessible to other users (mode ${mode.toString(8)})`,
      `chmod ${privateMode} ${path}`,
    ),
  ];
}

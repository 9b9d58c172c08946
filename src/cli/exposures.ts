import { statSync } from 'node:fs';
import { SETTINGS } from '../app/config/settings.js';
import { type Finding, warn } from '../store/contract/finding.js';
import type { Io } from './io.js';
import { isLoopbackHost } from './loopback.js';

const CHECK = 'exposure';

/** Permission bits of everybody but the owner. */
const NON_OWNER_BITS = 0o077;

const SECRET_FILES = [
  ...SETTINGS.flatMap(({ name, secret }) => (secret ? [`${name}_FILE`] : [])),
  'EVIDENCE_KEY_FILE',
];

/** Finds files and ports that are more accessible than they need to be. */
export function findExposures({ env, secretFiles }: Pick<Io, 'env' | 'secretFiles'>): Finding[] {
  const host = env['OPERATIONS_HOST'] || '127.0.0.1';
  const isOpen = env['OPERATIONS_PORT'] !== '0' && !isLoopbackHost(host);
  const found = `OPERATIONS_HOST is ${host}: other machines can read livez, readyz and metrics`;
  const todo =
    'Restrict that port to your monitoring, or set OPERATIONS_HOST to 127.0.0.1 (docs/security.md).';
  return [
    ...checkPermissions('DATA_DIR', env['DATA_DIR'] || 'data', '700'),
    ...SECRET_FILES.flatMap(name => checkPermissions(`the file of ${name}`, env[name], '600')),
    ...findExposedEnvFiles(secretFiles),
    ...(isOpen ? [warn(CHECK, found, todo)] : []),
  ];
}

/** Finds files given with --env-file that hold secrets and are accessible to other users. */
export function findExposedEnvFiles(files: readonly string[]): Finding[] {
  return files.flatMap(file => checkPermissions('the file of --env-file', file, '600'));
}

/** Warns if a file or folder is accessible to anybody but its owner. */
function checkPermissions(label: string, path: string | undefined, wantedMode: string): Finding[] {
  const found = path ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const mode = (found?.mode ?? 0) & 0o777;
  if ((mode & NON_OWNER_BITS) === 0) return [];
  return [
    warn(
      CHECK,
      `${label} is accessible to other users (mode ${mode.toString(8)})`,
      `chmod ${wantedMode} ${path}`,
    ),
  ];
}

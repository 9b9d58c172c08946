import { statSync } from 'node:fs';
import { SETTINGS } from '../../app/config/settings.js';
import { type Finding, warn } from '../../store/contract/finding.js';
import type { Io } from '../io.js';
import { isLoopback } from '../this-machine.js';

const CHECK = 'exposure';

/** Anybody but the owner: the group, too. */
const BY_OTHERS = 0o077;

const SECRET_FILES = [
  ...SETTINGS.flatMap(({ name, secret }) => (secret ? [`${name}_FILE`] : [])),
  'EVIDENCE_KEY_FILE',
];

/** What stands more open than it needs to. */
export function findExposures({ env, secretFiles }: Pick<Io, 'env' | 'secretFiles'>): Finding[] {
  const host = env['OPERATIONS_HOST'] || '127.0.0.1';
  const isOpen = env['OPERATIONS_PORT'] !== '0' && !isLoopback(host);
  const found = `OPERATIONS_HOST is ${host}: other machines may ask for livez, readyz and metrics`;
  const todo = 'Let only your monitor reach that port, or set it to 127.0.0.1 (docs/security.md).';
  return [
    ...findOpen('DATA_DIR', env['DATA_DIR'] || 'data', '700'),
    ...SECRET_FILES.flatMap(name => findOpen(`the file of ${name}`, env[name], '600')),
    ...findOpenSettings(secretFiles),
    ...(isOpen ? [warn(CHECK, found, todo)] : []),
  ];
}

/** Settings that the command line names and that hold a secret. */
export function findOpenSettings(files: readonly string[]): Finding[] {
  return files.flatMap(file => findOpen('the file of --env-file', file, '600'));
}

function findOpen(what: string, path: string | undefined, wanted: string): Finding[] {
  const found = path ? statSync(path, { throwIfNoEntry: false }) : undefined;
  const mode = (found?.mode ?? 0) & 0o777;
  if ((mode & BY_OTHERS) === 0) return [];
  return [warn(CHECK, `${what} is open to others (mode ${mode.toString(8)})`, `chmod ${wanted} ${path}`)];
}

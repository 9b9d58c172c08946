import { statSync } from 'node:fs';
import { SETTINGS } from '../../app/config/settings.js';
import { type Finding, warn } from '../../store/contract/finding.js';
import type { Io } from '../io.js';
import { isLoopback } from '../this-machine.js';

const CHECK = 'exposure';

/** Anybody but the owner: the group, too. */
const BY_OTHERS = 0o077;
const WRITTEN_BY_OTHERS = 0o022;

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
    ...findOpenFolder(env['DATA_DIR'] || 'data'),
    ...SECRET_FILES.flatMap(name => findOpenFile(`the file of ${name}`, env[name])),
    ...findOpenSettings(secretFiles),
    ...(isOpen ? [warn(CHECK, found, todo)] : []),
  ];
}

/** Settings that the command line names and that hold a secret. */
export function findOpenSettings(files: readonly string[]): Finding[] {
  return files.flatMap(file => findOpenFile('the file of --env-file', file));
}

function findOpenFile(what: string, file: string | undefined): Finding[] {
  const mode = file ? modeOf(file) : 0;
  if ((mode & BY_OTHERS) === 0) return [];
  return [warn(CHECK, `${what} can be read by others (mode ${mode.toString(8)})`, `chmod 600 ${file}`)];
}

function findOpenFolder(folder: string): Finding[] {
  const mode = modeOf(folder);
  if ((mode & BY_OTHERS) === 0) return [];
  const may = (mode & WRITTEN_BY_OTHERS) === 0 ? 'be entered' : 'be written to';
  return [warn(CHECK, `DATA_DIR can ${may} by others (mode ${mode.toString(8)})`, `chmod 700 ${folder}`)];
}

/** 0 where there is no such thing. */
function modeOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
}

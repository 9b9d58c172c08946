import { cleanText } from '../../text/clean-text.js';

/** The causes of system errors by code. */
const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'it does not exist',
  ENOTDIR: 'part of its path is not a folder',
  EEXIST: 'it already exists',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'its name is too long',
  EINVAL: 'the name is not allowed',
  ELOOP: 'its symbolic links form a loop',
};

/** The suffix of a file that is still being written. */
const PARTIAL_SUFFIX = /\.[0-9a-f-]{36}\.part$/;

const PORT_ADVICE =
  'Stop that program, or set PORT, OPERATIONS_PORT, CONSOLE_PORT or SANDBOX_PORT to a free port.';
const HOST_ADVICE = 'Set HOST or OPERATIONS_HOST to one of its addresses: 127.0.0.1, or 0.0.0.0 for all.';
const DATABASE_ADVICE =
  'Check that its folder exists (DATA_DIR for the databases) and that this user may write to it.';
const PATH_ADVICE =
  'Choose another path, or grant this user access. DATA_DIR is the folder of the databases.';

/** Explains an error of the operating system with advice, or returns null for other errors. */
export function explainSystemError(error: Error): readonly string[] | null {
  const getField = (name: string) => toTextOrEmpty(Reflect.get(error, name));
  const [code, syscall, port] = [getField('code'), getField('syscall'), getField('port')];
  if (code === 'EADDRINUSE') return [`Port ${port} is in use by another program.`, PORT_ADVICE];
  if (syscall === 'listen' && code === 'EACCES')
    return [`This user may not listen on port ${port}.`, 'Use a port of 1024 or above.'];
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && port === '')) {
    const address = cleanText(getField('address') || getField('hostname'));
    return [`"${address}" is not an address of this machine (${code}).`, HOST_ADVICE];
  }
  if (code === 'SQLITE_CANTOPEN') return ['A database file cannot be opened.', DATABASE_ADVICE];
  if (code === 'EISDIR' && syscall === 'read') return ['Expected a file, got a folder.', 'Name the file.'];
  if (syscall !== '' && Reflect.get(error, 'path') === '')
    return ['The name of a file or folder is empty.', 'Give its name.'];
  const path = cleanText(getField('path').replace(PARTIAL_SUFFIX, ''));
  const cause = code === 'ENOENT' && syscall === 'mkdir' ? 'its folder cannot be created' : CAUSES[code];
  if (path === '' || cause === undefined) return null;
  return [`"${path}" cannot be used: ${cause} (${code}).`, PATH_ADVICE];
}

/** Converts a string or number to text. Returns an empty text for any other value. */
function toTextOrEmpty(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

import { cleanText } from '../../text/clean-text.js';

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'something else of that name is there',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'its name is too long',
  EINVAL: 'the name is not allowed',
  ELOOP: 'its links go in a circle',
};

/** What is written has another name until it is whole. */
const PART = /\.[0-9a-f-]{36}\.part$/;

const ON_PORTS = 'Stop it, or set PORT, OPERATIONS_PORT, CONSOLE_PORT or SANDBOX_PORT to a free one.';
const ON_HOSTS = 'Set HOST or OPERATIONS_HOST to one that is: 127.0.0.1, or 0.0.0.0 for all of them.';
const ON_DATABASES =
  'Is the folder there that was named (DATA_DIR names that of the databases), and may this user write to it?';
const ON_PLACES =
  'Name another place, or give this user the right to it. DATA_DIR names the folder of the databases.';

/** What a person can put right: an address or a file that this machine or this user does not have; null for any other error. */
export function describeSystemFault(error: Error): readonly string[] | null {
  const of = (name: string) => textOf(Reflect.get(error, name));
  const [code, syscall, port] = [of('code'), of('syscall'), of('port')];
  if (code === 'EADDRINUSE') return [`Another program has port ${port}.`, ON_PORTS];
  if (syscall === 'listen' && code === 'EACCES')
    return [`This user may not listen on port ${port}.`, 'Take a port from 1024 on.'];
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && port === '')) {
    const address = cleanText(of('address') || of('hostname'));
    return [`"${address}" is not an address of this machine (${code}).`, ON_HOSTS];
  }
  if (code === 'SQLITE_CANTOPEN') return ['A database file cannot be opened.', ON_DATABASES];
  if (code === 'EISDIR' && syscall === 'read')
    return ['A folder was named where a file is read.', 'Name the file.'];
  if (syscall !== '' && Reflect.get(error, 'path') === '')
    return ['The name of a file or folder is empty.', 'Name a place.'];
  const path = cleanText(of('path').replace(PART, ''));
  const why = code === 'ENOENT' && syscall === 'mkdir' ? 'no folder can be made there' : WHY[code];
  if (path === '' || why === undefined) return null;
  return [`"${path}" cannot be used: ${why} (${code}).`, ON_PLACES];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

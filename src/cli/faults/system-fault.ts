import { cleanText } from '../../text/clean.js';

/** What a person can put right: an address or a file that this machine or this user does not have. */
export interface SystemFault {
  readonly said: string;
  readonly advice: string;
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of its path is no folder',
  EEXIST: 'something else of that name is there',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'its name is too long',
  EINVAL: 'it is no usable name',
  ELOOP: 'its links go in a circle',
};

/** What is written has another name until it is whole. */
const PART = /\.[0-9a-f-]{36}\.part$/;

/** Null where the error is none of the operating system's, or none that a person can put right. */
export function describeSystemFault(error: Error): SystemFault | null {
  const code = textOf(error, 'code');
  const syscall = textOf(error, 'syscall');
  if (code === 'EADDRINUSE') {
    return {
      said: `Another program has port ${textOf(error, 'port')}.`,
      advice: 'Stop it, or set PORT, OPERATIONS_PORT, CONSOLE_PORT or SANDBOX_PORT to a free one.',
    };
  }
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && textOf(error, 'port') === '')) {
    return describeAddress(error, code);
  }
  if (code === 'SQLITE_CANTOPEN') {
    return {
      said: 'A database file cannot be opened.',
      advice:
        'Is the folder there that was named (DATA_DIR names that of the databases), and may this user write to it?',
    };
  }
  if (code === 'EISDIR' && syscall === 'read') {
    return { said: 'A folder was named where a file is read.', advice: 'Name the file.' };
  }
  const path = textOf(error, 'path').replace(PART, '');
  const why = code === 'ENOENT' && syscall === 'mkdir' ? 'no folder can be made there' : WHY[code];
  if (syscall !== '' && Reflect.get(error, 'path') === '') {
    return { said: 'An empty text is no name of a file or folder.', advice: 'Name a place.' };
  }
  if (path === '' || why === undefined) return null;
  return {
    said: `"${cleanText(path)}" cannot be used: ${why} (${code}).`,
    advice:
      'Name another place, or give this user the right to it. DATA_DIR names the folder of the databases.',
  };
}

function describeAddress(error: Error, code: string): SystemFault {
  const address = textOf(error, 'address') || textOf(error, 'hostname');
  if (code === 'EACCES') {
    const port = textOf(error, 'port');
    return { said: `This user may not listen on port ${port}.`, advice: 'Take a port from 1024 on.' };
  }
  return {
    said: `"${cleanText(address)}" is no address of this machine (${code}).`,
    advice: 'Set HOST or OPERATIONS_HOST to one that is: 127.0.0.1, or 0.0.0.0 for all of them.',
  };
}

function textOf(error: Error, name: string): string {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

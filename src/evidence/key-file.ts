import { randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type Head, headOf, textOfHead } from './checkpoint.js';
import { readKey, type SigningKey, signingKey, writeKey } from './note.js';

/** For its owner alone, and on the disk before anything goes on. */
const SAFE = { mode: 0o600, flush: true };
const SEED_BYTES = 32;

/** A new key in a file; never over one that is there. */
export function makeKeyFile(file: string, name: string): SigningKey {
  const seed = randomBytes(SEED_BYTES);
  const key = signingKey(name, seed);
  writeFileSync(file, writeKey(key, seed), { ...SAFE, flag: 'wx' });
  flushFolderOf(file);
  return key;
}

/** What is to replace it, made once: until it does it stands beside it. */
export function nextKeyFile(file: string, name: string): SigningKey {
  const next = `${file}.next`;
  return existsSync(next) ? readKeyFile(next) : makeKeyFile(next, name);
}

export function replaceKeyFile(file: string, at: string): void {
  copyFileSync(file, `${file}.until-${at.replaceAll(':', '.')}`);
  renameSync(`${file}.next`, file);
  flushFolderOf(file);
}

export function readKeyFile(file: string): SigningKey {
  return readKey(readFileSync(file, 'utf8'));
}

/** What the key in a file has signed last: it stands beside that, where no loss of a database reaches it. */
export function lastSignedBeside(keyFile: string) {
  const file = `${keyFile}.last-signed`;
  return {
    read: (): Head | null => (existsSync(file) ? headOf(readFileSync(file, 'utf8')) : null),
    /** Flushed before it returns: a signature leaves only after that. */
    write: (head: Head): void => {
      writeFileSync(`${file}.part`, textOfHead(head), SAFE);
      renameSync(`${file}.part`, file);
      flushFolderOf(file);
    },
  };
}

export type LastSigned = ReturnType<typeof lastSignedBeside>;

function flushFolderOf(file: string): void {
  const descriptor = openSync(dirname(file), 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

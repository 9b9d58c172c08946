import { randomBytes } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type SignedHead, parseSignedHead, formatTreeHead } from './checkpoint.js';
import { parseSigningKey, type SigningKey, createSigningKey, formatSigningKey } from './signing-key.js';

/** Readable for its owner only, and flushed to the disk before the call returns. */
const SAFE = { mode: 0o600, flush: true };
/** Readable for the web server. */
const PUBLIC = { mode: 0o644, flush: true };
const SEED_BYTES = 32;

/** Creates a key in a new file. Throws if the file exists. */
export function createKeyFile(file: string, name: string): SigningKey {
  const seed = randomBytes(SEED_BYTES);
  const key = createSigningKey(name, seed);
  writeFileSync(file, formatSigningKey(key, seed), { ...SAFE, flag: 'wx' });
  flushFolder(file);
  return key;
}

/** Returns the key that will replace the one in a file. It is created once, in a file next to it. */
export function createNextKeyFile(file: string, name: string): SigningKey {
  const next = `${file}.next`;
  return existsSync(next) ? readKeyFile(next) : createKeyFile(next, name);
}

export function replaceKeyFile(file: string, at: string): void {
  copyFileSync(file, `${file}.until-${at.replaceAll(':', '.')}`);
  renameSync(`${file}.next`, file);
  flushFolder(file);
}

/** Reads a key. While it is being replaced, codes of leaves that its successor made are accepted too. */
export function readKeyFile(file: string): SigningKey {
  const key = parseSigningKey(readFileSync(file, 'utf8'));
  if (!existsSync(`${file}.next`)) return key;
  const next = parseSigningKey(readFileSync(`${file}.next`, 'utf8'));
  return { ...key, codeKeys: [...key.codeKeys, ...next.codeKeys] };
}

/** Reads the keys that a key file has replaced. They are needed to restore a backup from before the change. */
export function readReplacedKeys(file: string): readonly SigningKey[] {
  const start = `${basename(file)}.until-`;
  const names = readdirSync(dirname(file)).filter(name => name.startsWith(start));
  return names.map(name => parseSigningKey(readFileSync(join(dirname(file), name), 'utf8')));
}

/**
 * Keeps the newest checkpoint that a key has signed in a file next to the key, because the loss of a database must not lose
 * it: its text, without the signature.
 */
export function createLastSignedFile(keyFile: string) {
  const file = `${keyFile}.last-signed`;
  return {
    read: (): SignedHead | null => (existsSync(file) ? parseSignedHead(readFileSync(file, 'utf8')) : null),
    /** Flushes the file before it returns. A signature must not leave the process earlier. */
    write: (head: SignedHead): void => {
      writeFileSync(`${file}.part`, `${formatTreeHead(head)}${head.signedAt}\n`, SAFE);
      renameSync(`${file}.part`, file);
      flushFolder(file);
    },
  };
}

/** Returns a function that replaces the file of the newest checkpoint, so that a web server never reads half of it. */
export function createCheckpointWriter(file: string): (note: string) => void {
  let written: string | null = null;
  return note => {
    if (note === written && existsSync(file)) return;
    writeFileSync(`${file}.part`, note, PUBLIC);
    renameSync(`${file}.part`, file);
    flushFolder(file);
    written = note;
  };
}

export type LastSigned = ReturnType<typeof createLastSignedFile>;

function flushFolder(file: string): void {
  const descriptor = openSync(dirname(file), 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

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
import { type SignedTreeHead, parseSignedTreeHead, formatTreeHead } from './checkpoint.js';
import { parseSigningKey, type SigningKey, createSigningKey, formatSigningKey } from './signing-key.js';

/** Options for writing a file that only its owner may read. `flush` writes it to the disk before the call returns. */
const PRIVATE_FILE = { mode: 0o600, flush: true };
/** Options for writing a file that every user, such as a web server, may read. */
const PUBLIC_FILE = { mode: 0o644, flush: true };
/** The length of an Ed25519 private key. */
const SEED_BYTES = 32;

/** Creates a random key and writes it to a new file. Throws if the file exists. */
export function createKeyFile(file: string, name: string): SigningKey {
  const seed = randomBytes(SEED_BYTES);
  const key = createSigningKey(name, seed);
  writeFileSync(file, formatSigningKey(key, seed), { ...PRIVATE_FILE, flag: 'wx' });
  flushFolder(file);
  return key;
}

/**
 * Creates the key that will replace the key in `file`. Writes it to FILE.next and returns it. If FILE.next exists already, returns the key
 * in that file and creates none.
 */
export function createNextKeyFile(file: string, name: string): SigningKey {
  const next = `${file}.next`;
  return existsSync(next) ? readKeyFile(next) : createKeyFile(next, name);
}

/** Replaces a key file with FILE.next. Keeps the replaced key as FILE.until-INSTANT. */
export function replaceKeyFile(file: string, replacedAt: string): void {
  copyFileSync(file, `${file}.until-${replacedAt.replaceAll(':', '.')}`);
  renameSync(`${file}.next`, file);
  flushFolder(file);
}

/** Reads a key file. If FILE.next exists, authentication codes of that key are accepted too: it is the second of `codeKeys`. */
export function readKeyFile(file: string): SigningKey {
  const key = parseSigningKey(readFileSync(file, 'utf8'));
  if (!existsSync(`${file}.next`)) return key;
  const next = parseSigningKey(readFileSync(`${file}.next`, 'utf8'));
  return { ...key, codeKeys: [...key.codeKeys, ...next.codeKeys] };
}

/** Reads the replaced keys of a key file (FILE.until-…). They are needed to restore a backup from before a replacement. */
export function readReplacedKeys(file: string): readonly SigningKey[] {
  const start = `${basename(file)}.until-`;
  const names = readdirSync(dirname(file)).filter(name => name.startsWith(start));
  return names.map(name => parseSigningKey(readFileSync(join(dirname(file), name), 'utf8')));
}

/**
 * Returns functions that read and write KEY-FILE.last-signed. This file has the origin, size, root and instant of the newest checkpoint
 * that the key has signed. The file is next to the key, so that it survives the loss of the database.
 */
export function openLastSignedFile(keyFile: string) {
  const file = `${keyFile}.last-signed`;
  return {
    /** Returns null if the key has signed nothing yet. */
    read: (): SignedTreeHead | null =>
      existsSync(file) ? parseSignedTreeHead(readFileSync(file, 'utf8')) : null,
    /** Replaces the file and flushes it to the disk. Must return before the signed checkpoint leaves the process. */
    write: (head: SignedTreeHead): void => {
      writeFileSync(`${file}.part`, `${formatTreeHead(head)}${head.signedAt}\n`, PRIVATE_FILE);
      renameSync(`${file}.part`, file);
      flushFolder(file);
    },
  };
}

/**
 * Returns a function that writes a checkpoint to the published file, unless it wrote the same checkpoint before. The file is replaced
 * atomically, so that a web server never reads an incomplete checkpoint.
 */
export function createCheckpointWriter(file: string): (note: string) => void {
  let written: string | null = null;
  return note => {
    if (note === written && existsSync(file)) return;
    writeFileSync(`${file}.part`, note, PUBLIC_FILE);
    renameSync(`${file}.part`, file);
    flushFolder(file);
    written = note;
  };
}

/** The file that remembers the newest checkpoint that a key has signed. */
export type LastSignedFile = ReturnType<typeof openLastSignedFile>;

/** Flushes the folder of a file to the disk, so that a new or renamed file survives a power cut. */
function flushFolder(file: string): void {
  const descriptor = openSync(dirname(file), 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

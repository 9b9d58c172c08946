import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVisitorKeys } from '../console/guard/visitor-keys.js';
import { createPrivateFolder } from '../folder.js';
import type { Io } from './io.js';
import type { MirrorContext } from './context.js';
import { getValueAtPath } from './value-at-path.js';

/** The port and secret of a console, stored so that other commands can create sign-in links. */
export interface ConsoleAddress {
  readonly port: number;
  /** In hex. */
  readonly secret: string;
}

type MirrorFolder = Pick<MirrorContext, 'folder'>;

/** Reads the stored port and secret of the console. Returns null if they are missing or invalid. */
export function readConsoleAddress(location: MirrorFolder): ConsoleAddress | null {
  const file = getAddressFile(location);
  if (!existsSync(file)) return null;
  const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const port = getValueAtPath(stored, 'port');
  const secret = getValueAtPath(stored, 'secret');
  const isValid = typeof port === 'number' && typeof secret === 'string' && /^[0-9a-f]{64}$/.test(secret);
  return isValid ? { port, secret } : null;
}

/** Stores the port and secret of the console in a file that only its owner may read. */
export function saveConsoleAddress(location: MirrorFolder, address: ConsoleAddress): void {
  const file = getAddressFile(location);
  createPrivateFolder(location.folder);
  // The secret lets anybody sign in.
  writeFileSync(`${file}.new`, `${JSON.stringify(address)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Creates a link that signs a browser in to the console. The link works only once. */
export function createSignInLink({ port, secret }: ConsoleAddress, { now }: Pick<Io, 'now'>): string {
  const keys = createVisitorKeys({ secret: Buffer.from(secret, 'hex'), now });
  return `${formatConsoleUrl(port)}/?key=${keys.createSignInKey()}`;
}

export function formatConsoleUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Returns lines that say how to open the console: a sign-in link on a terminal, otherwise the command that prints one. */
export function describeConsoleAccess(
  address: ConsoleAddress,
  io: Io,
  command = 'carbon-mirror',
): readonly string[] {
  // Only a terminal gets a sign-in link, so that no log file contains one.
  if (io.terminal.stderr) return [`Open ${createSignInLink(address, io)}`];
  return [`Run "${command} console url" for a sign-in link.`, `Open ${formatConsoleUrl(address.port)}`];
}

function getAddressFile({ folder }: MirrorFolder): string {
  return join(folder, 'console.json');
}

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVisitorKeys } from '../console/guard/keys.js';
import { createPrivateFolder } from '../folder.js';
import type { Io } from './io.js';
import type { MirrorLocation } from './context.js';
import { valueAt } from './value-at.js';

/** The port and secret of a console, stored so that other commands can create sign-in links. */
export interface KnownConsole {
  readonly port: number;
  /** In hex. */
  readonly secret: string;
}

type Where = Pick<MirrorLocation, 'folder'>;

/** Returns the console of a mirror; null if none has been started. */
export function findConsole(location: Where): KnownConsole | null {
  const file = fileOf(location);
  if (!existsSync(file)) return null;
  const known: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const [port, secret] = [valueAt(known, 'port'), valueAt(known, 'secret')];
  const isWhole = typeof port === 'number' && typeof secret === 'string' && /^[0-9a-f]{64}$/.test(secret);
  return isWhole ? { port, secret } : null;
}

/** Stores how to reach the console. Only the owner may read the file, because its secret lets anybody in. */
export function keepConsole(location: Where, known: KnownConsole): void {
  const file = fileOf(location);
  createPrivateFolder(location.folder);
  writeFileSync(`${file}.new`, `${JSON.stringify(known)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Creates a link that signs in one browser, once. */
export function createSignInLink({ port, secret }: KnownConsole, { now }: Pick<Io, 'now'>): string {
  const keys = createVisitorKeys({ secret: Buffer.from(secret, 'hex'), now });
  return `${pagesAt(port)}/?key=${keys.mint()}`;
}

export function pagesAt(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Returns lines that say how to open the console. Only a terminal gets a sign-in link: a log file must not let its readers in. */
export function invitation(known: KnownConsole, io: Io, command = 'carbon-mirror'): readonly string[] {
  if (io.terminal.stderr) return [`Open ${createSignInLink(known, io)}`];
  return [`Run "${command} console url" for a sign-in link.`, `Open ${pagesAt(known.port)}`];
}

function fileOf({ folder }: Where): string {
  return join(folder, 'console.json');
}

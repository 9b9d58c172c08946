import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVisitorKeys } from '../console/guard/keys.js';
import { makePrivateFolder } from '../folder.js';
import type { Io } from './io.js';
import type { MirrorLocation } from './context.js';
import { valueAt } from './value-at.js';

/** What a console leaves for who wants to be let in. */
export interface KnownConsole {
  readonly port: number;
  /** In hex. */
  readonly secret: string;
}

type Where = Pick<MirrorLocation, 'folder'>;

/** Null where none has been started there. */
export function findConsole(location: Where): KnownConsole | null {
  const file = fileOf(location);
  if (!existsSync(file)) return null;
  const known: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const [port, secret] = [valueAt(known, 'port'), valueAt(known, 'secret')];
  const isWhole = typeof port === 'number' && typeof secret === 'string' && /^[0-9a-f]{64}$/.test(secret);
  return isWhole ? { port, secret } : null;
}

/** Who may read this file gets in: it is the owner's alone. */
export function keepConsole(location: Where, known: KnownConsole): void {
  const file = fileOf(location);
  makePrivateFolder(location.folder);
  writeFileSync(`${file}.new`, `${JSON.stringify(known)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Lets a browser in, once. */
export function addressOf({ port, secret }: KnownConsole, { now }: Pick<Io, 'now'>): string {
  const keys = createVisitorKeys({ secret: Buffer.from(secret, 'hex'), now });
  return `${pagesAt(port)}/?key=${keys.mint()}`;
}

export function pagesAt(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Where the pages are, at the end. A file that keeps what is said must not let its readers in. */
export function invitation(known: KnownConsole, io: Io, command = 'carbon-mirror'): readonly string[] {
  if (io.terminal.stderr) return [`Open ${addressOf(known, io)}`];
  return [
    `"${command} console url" prints the address that lets a browser in.`,
    `Open ${pagesAt(known.port)}`,
  ];
}

function fileOf({ folder }: Where): string {
  return join(folder, 'console.json');
}

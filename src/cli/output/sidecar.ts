import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandFault, usageFault } from '../exit.js';
import { withSnakeKeys } from '../snake-case.js';
import { jsonText } from './output.js';

const PRIVATE_FILE = 0o600;

/** What is said of a file that was taken away stands beside it. */
export function sidecarOf(file: string): string {
  return `${file}.json`;
}

/** Throws where there is one already. */
export function writeSidecar(file: string, about: object): void {
  const text = `${jsonText(withSnakeKeys(about), 2)}\n`;
  writeFileSync(sidecarOf(file), text, { flag: 'wx', mode: PRIVATE_FILE });
}

/** Of a file that is taken away with a sidecar: nothing is ever written over. */
export function demandNewFile(file: string): void {
  if (file === '') throw usageFault('Expected the name of a new file, got an empty text.');
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw usageFault(`${file}: there is no folder ${folder}.`, 'Make it first, or name another place.');
  }
  const taken = [file, sidecarOf(file)].find(name => existsSync(name));
  if (taken !== undefined) throw isThere(taken);
}

export function isThere(file: string): CommandFault {
  return usageFault(`${file} is there already.`, 'Name a new file, or remove that one first.');
}

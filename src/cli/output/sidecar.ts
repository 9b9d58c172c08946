import { writeFileSync } from 'node:fs';
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

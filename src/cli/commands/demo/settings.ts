import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { formatSettingName } from '../../../app/config/format-value.js';
import { createUsageError } from '../../exit.js';
import type { Io } from '../../io.js';

/** All that a demo writes into its settings, and all that is believed of them. */
const NAMES = [
  'REGISTRY_BASE_URL',
  'REGISTRY_APP_ID',
  'REGISTRY_PRIVATE_KEY',
  'REGISTRY_REQUESTS_PER_SECOND',
  'WEBHOOK_SECRETS',
  'SANDBOX_PORT',
  'PORT',
  'OPERATIONS_PORT',
  'CONSOLE_PORT',
];

type Settings = Io['env'];

/** A file for `--env-file`: with it a program of somebody's own acts as the app of the demo. */
export function demoSettingsFile(folder: string): string {
  return join(folder, 'demo.env');
}

/** The settings of a demo; null where there is none. Who can write the file must not thereby run code here, nor send its key elsewhere. */
export function readDemoSettings(folder: string): Settings | null {
  const file = demoSettingsFile(folder);
  if (!existsSync(file)) return null;
  const settings = parseEnv(readFileSync(file, 'utf8'));
  const why = faultIn(settings);
  if (why === null) return settings;
  throw createUsageError(
    `${file} has contents that no demo writes: ${why}.`,
    'Correct it, or remove the demo folder; the next "carbon-mirror up --demo" creates a new one.',
  );
}

export function writeDemoSettings(folder: string, settings: Settings): void {
  const file = demoSettingsFile(folder);
  const lines = NAMES.flatMap(name => (settings[name] ? [envLine(name, settings[name])] : []));
  writeFileSync(`${file}.new`, lines.join(''), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function faultIn({ REGISTRY_BASE_URL: url = '', ...others }: Settings): string | null {
  const foreign = Object.keys(others).find(name => !NAMES.includes(name));
  if (foreign !== undefined) return `it contains ${formatSettingName(foreign)}`;
  return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url) ? null : 'its registry is not on this machine';
}

/** One setting as a file of settings is written: this program and Node read it with --env-file, a shell with `set -a`. */
export function envLine(name: string, value: string): string {
  const line = value.trimEnd().replaceAll('\n', '\\n');
  const text = /^[\w./:@-]*$/.test(line) ? line : `'${line}'`;
  return `${name}=${text}\n`;
}

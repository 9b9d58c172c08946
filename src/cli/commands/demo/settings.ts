import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { formatSettingName } from '../../../app/config/format-value.js';
import { createUsageError } from '../../exit.js';
import type { Io } from '../../io.js';

/** The settings that a demo writes to its file. Any other setting in the file is refused. */
const SETTING_NAMES = [
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

/** The settings of the demo, by name. */
type DemoSettings = Io['env'];

/** Returns the file of the demo's settings. With `--env-file` other programs can use it to act as the app of the demo. */
export function getDemoSettingsFile(folder: string): string {
  return join(folder, 'demo.env');
}

/**
 * Returns the settings of the demo; null if there is none. Throws for settings that no demo writes, so that a changed file
 * can neither run code here nor send the key to another machine.
 */
export function readDemoSettings(folder: string): DemoSettings | null {
  const file = getDemoSettingsFile(folder);
  if (!existsSync(file)) return null;
  const settings = parseEnv(readFileSync(file, 'utf8'));
  const fault = findSettingsFault(settings);
  if (fault === null) return settings;
  throw createUsageError(
    `${file} has contents that no demo writes: ${fault}.`,
    'Correct it, or remove the demo folder; the next "carbon-mirror up --demo" creates a new one.',
  );
}

/** Writes the settings of the demo to its file, which only the owner may read because it contains the private key. */
export function writeDemoSettings(folder: string, settings: DemoSettings): void {
  const file = getDemoSettingsFile(folder);
  const lines = SETTING_NAMES.flatMap(name => (settings[name] ? [formatSetting(name, settings[name])] : []));
  writeFileSync(`${file}.new`, lines.join(''), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Returns which setting no demo would write; null if there is none. */
function findSettingsFault({ REGISTRY_BASE_URL: url = '', ...others }: DemoSettings): string | null {
  const unknownName = Object.keys(others).find(name => !SETTING_NAMES.includes(name));
  if (unknownName !== undefined) return `it contains ${formatSettingName(unknownName)}`;
  return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url) ? null : 'its registry is not on this machine';
}

/** Formats a setting as a line that `--env-file` and a shell (`set -a`) can both read. */
export function formatSetting(name: string, value: string): string {
  const escaped = value.trimEnd().replaceAll('\n', '\\n');
  const quoted = /^[\w./:@-]*$/.test(escaped) ? escaped : `'${escaped}'`;
  return `${name}=${quoted}\n`;
}

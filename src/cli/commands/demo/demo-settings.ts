import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { formatSettingName } from '../../../app/config/mask-setting.js';
import { createUsageError } from '../../command-error.js';
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

/** Returns the path of the demo's settings file. The file is suitable for `--env-file`. */
export function getDemoSettingsFile(folder: string): string {
  return join(folder, 'demo.env');
}

/** Reads the demo's settings file. Returns null if the file is missing. */
export function readDemoSettings(folder: string): DemoSettings | null {
  const file = getDemoSettingsFile(folder);
  if (!existsSync(file)) return null;
  const settings = parseEnv(readFileSync(file, 'utf8'));
  /** A manipulated file must not run code here or send the private key to another machine. */
  const fault = findSettingsFault(settings);
  if (fault === null) return settings;
  throw createUsageError(
    `${file} has contents that no demo writes: ${fault}.`,
    'Correct it, or remove the demo folder; the next "carbon-mirror up --demo" creates a new one.',
  );
}

/** Writes the demo's settings file, which only its owner may read. */
export function writeDemoSettings(folder: string, settings: DemoSettings): void {
  const file = getDemoSettingsFile(folder);
  const lines = SETTING_NAMES.flatMap(name => (settings[name] ? [formatSetting(name, settings[name])] : []));
  // The file contains the private key.
  writeFileSync(`${file}.new`, lines.join(''), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Returns why the settings are invalid: they contain a setting that the demo never writes, or their registry is not on this
 * machine. Returns null for valid settings.
 */
function findSettingsFault({ REGISTRY_BASE_URL: url = '', ...others }: DemoSettings): string | null {
  const unknownName = Object.keys(others).find(name => !SETTING_NAMES.includes(name));
  if (unknownName !== undefined) return `it contains ${formatSettingName(unknownName)}`;
  return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url) ? null : 'its registry is not on this machine';
}

/** Formats a setting as a line that both `--env-file` and a shell can read, such as `NAME='two words'`. */
export function formatSetting(name: string, value: string): string {
  const escaped = value.trimEnd().replaceAll('\n', '\\n');
  const quoted = /^[\w./:@-]*$/.test(escaped) ? escaped : `'${escaped}'`;
  return `${name}=${quoted}\n`;
}

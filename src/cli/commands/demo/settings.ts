import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownName } from '../../../app/config/shown.js';
import { isObject } from '../../../registry/model.js';
import { usageFault } from '../../exit.js';

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

type Settings = Readonly<Record<string, string>>;

/** The settings of a demo; null where there is none. Who can write the file must not thereby run code here, nor send its key elsewhere. */
export function readDemoSettings(folder: string): Settings | null {
  const file = fileIn(folder);
  if (!existsSync(file)) return null;
  const settings = parse(readFileSync(file, 'utf8'));
  const why = areTexts(settings) ? faultIn(settings) : 'it is not a list of names and texts';
  if (areTexts(settings) && why === null) return settings;
  throw usageFault(
    `${file} is not as a demo writes it: ${why}.`,
    'Correct it, or remove the folder of the demo: the next "carbon-mirror up" makes a new one.',
  );
}

export function writeDemoSettings(
  folder: string,
  settings: Readonly<Record<string, string | undefined>>,
): void {
  const file = fileIn(folder);
  writeFileSync(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function fileIn(folder: string): string {
  return join(folder, 'settings.json');
}

function faultIn(settings: Settings): string | null {
  const foreign = Object.keys(settings).find(name => !NAMES.includes(name));
  if (foreign !== undefined) return `it holds ${shownName(foreign)}`;
  const { REGISTRY_BASE_URL: url } = settings;
  return url === undefined || /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url)
    ? null
    : 'its registry is not on this machine';
}

function areTexts(value: unknown): value is Settings {
  return isObject(value) && Object.values(value).every(each => typeof each === 'string');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

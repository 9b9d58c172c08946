import { shownName } from '../../../app/config/shown.js';
import { isObject } from '../../../registry/model.js';
import { CommandFault, usageFault } from '../../exit.js';

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

/** The settings of a demo. Who can write the file must not thereby run code here, nor send its key elsewhere. */
export function parseDemoSettings(file: string, text: string): Settings {
  const settings = parse(text);
  if (!areTexts(settings)) throw unusable(file, 'it is not a list of names and texts');
  const foreign = Object.keys(settings).find(name => !NAMES.includes(name));
  if (foreign !== undefined) throw unusable(file, `it holds ${shownName(foreign)}`);
  const { REGISTRY_BASE_URL: url } = settings;
  if (url === undefined || /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url)) return settings;
  throw unusable(file, 'its registry is not on this machine');
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

function unusable(file: string, why: string): CommandFault {
  return usageFault(
    `${file} is not as a demo writes it: ${why}.`,
    'Correct it, or remove the folder of the demo: the next "carbon-mirror up" makes a new one.',
  );
}

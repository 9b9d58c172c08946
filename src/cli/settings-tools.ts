import { readPrivateKey } from '../registry/auth/private-key.js';
import { readSecretFile } from '../app/config/config.js';
import type { SettingsTools } from '../app/config/secret.js';

/** With these a key that cannot be used is a fault of the settings like any other, told before anything starts. */
export const SETTINGS_TOOLS: SettingsTools = { readFile: readSecretFile, checkPrivateKey: readPrivateKey };

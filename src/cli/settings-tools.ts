import { readPrivateKey } from '../auth/private-key.js';
import { readSecretFile } from '../config/config.js';
import type { SettingsTools } from '../config/secret.js';

/** With these a key that cannot be used is a fault of the settings like any other, told before anything starts. */
export const SETTINGS_TOOLS: SettingsTools = { readFile: readSecretFile, checkPrivateKey: readPrivateKey };

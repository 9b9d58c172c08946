import type { CommandGroup } from '../../command.js';
import { APP } from './app.js';
import { CALL } from './call.js';
import { START } from './start.js';

export const SANDBOX: CommandGroup = {
  says: 'A whole registry on this machine: start it, register an app; `call` acts for its people and loses webhooks',
  commands: { start: START, app: APP, call: CALL },
};

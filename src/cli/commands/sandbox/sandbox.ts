import type { CommandGroup } from '../../command.js';
import { APP } from './app.js';
import { CALL } from './call.js';
import { START } from './start.js';

export const SANDBOX: CommandGroup = {
  says: 'A whole registry on this machine: start it, register an app; `call` acts for its people and loses webhooks',
  examples: [
    'carbon-mirror sandbox start --seed 1',
    'carbon-mirror sandbox app my-app --permission organization_warehouse:write > .env',
    'carbon-mirror sandbox call GET /organizations',
  ],
  commands: { start: START, app: APP, call: CALL },
};

import type { CommandGroup } from '../../command.js';
import { commandsOf } from './run.js';
import { START } from './start.js';

export const SANDBOX: CommandGroup = {
  says: 'A whole registry on this machine: start it, act for its people, and make trouble',
  examples: [
    'carbon-mirror sandbox start --seed 1',
    'carbon-mirror sandbox organizations list',
    'carbon-mirror sandbox apps register --name my-app --permission organization_warehouse:write',
    'carbon-mirror sandbox installations suspend "Harbour Ferries"',
    'carbon-mirror sandbox clock move 10m',
  ],
  commands: { start: START, ...commandsOf() },
};

import type { CommandGroup } from '../../define-command.js';
import { ADD } from './add.js';
import { NEW_EPOCH } from './new-epoch.js';
import { ATTEMPTS, EVENTS, LIST, SHOW } from './show-commands.js';
import { PAUSE, REMOVE, REPLAY, RESUME, ROTATE } from './state-commands.js';
import { TEST } from './test.js';

export const SUBSCRIPTIONS: CommandGroup = {
  summary: 'Send signed events to other programs',
  examples: [
    'carbon-mirror subscriptions add https://shop.example/hooks --events retirement.created,credit.changed',
    'carbon-mirror subscriptions list',
  ],
  commands: {
    add: ADD,
    list: LIST,
    show: SHOW,
    test: TEST,
    pause: PAUSE,
    resume: RESUME,
    remove: REMOVE,
    attempts: ATTEMPTS,
    replay: REPLAY,
    rotate: ROTATE,
    events: EVENTS,
    'new-epoch': NEW_EPOCH,
  },
};

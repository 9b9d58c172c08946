import { field, type Verb, type VerbGroup } from './verb.js';

const SHOWN = { columns: ['now', 'isFrozen'] };
const CHANGE: Pick<Verb, 'route' | 'columns'> = {
  ...SHOWN,
  route: 'POST /clock',
};
const TIME = field('<time>', 'moveMs', 'as in 30s, 10m, 2h or 1d', { kind: 'duration' });

export const CLOCK: VerbGroup = {
  name: 'clock',
  what: "The sandbox's own time, which tokens and reservations go by",
  verbs: [
    {
      ...SHOWN,
      command: 'show',
      what: 'Show its time',
      route: 'GET /clock',
      example: 'clock show',
    },
    { ...CHANGE, command: 'move', what: 'Move it ahead', fields: [TIME], example: 'clock move 10m' },
    {
      ...CHANGE,
      command: 'back',
      what: 'Move it back',
      fields: [TIME],
      body: ({ moveMs }) => ({ moveMs: -Number(moveMs) }),
      example: 'clock back 1h',
    },
    {
      ...CHANGE,
      command: 'set',
      what: 'Set it',
      fields: [field('<instant>', 'at', 'as in 2026-12-31T23:59:00Z')],
      example: 'clock set 2026-12-31T23:59:00Z',
    },
    {
      ...CHANGE,
      command: 'freeze',
      what: 'Make it stand still',
      body: () => ({ frozen: true }),
      example: 'clock freeze',
    },
    {
      ...CHANGE,
      command: 'run',
      what: 'Let it run on',
      body: () => ({ frozen: false }),
      example: 'clock run',
    },
  ],
};

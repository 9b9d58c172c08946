import { field, LIMIT, type VerbGroup } from './verb.js';

const DELIVERY = field('<delivery>', 'id', 'its number', { kind: 'number' });
const COLUMNS = ['id', 'event', 'state', 'attempts', 'createdAt', 'installationId', 'url'];

export const DELIVERIES: VerbGroup = {
  name: 'deliveries',
  what: 'Webhooks that were sent',
  verbs: [
    {
      command: 'list',
      what: 'List the newest, with what came of each attempt',
      route: 'GET /deliveries',
      fields: [LIMIT],
      list: 'deliveries',
      columns: COLUMNS,
      example: 'deliveries list',
    },
    {
      command: 'show',
      what: 'Show one, with its body and signature',
      route: 'GET /deliveries/:id',
      fields: [DELIVERY],
      example: 'deliveries show 7',
    },
    {
      command: 'resend',
      what: 'Send one more copy',
      route: 'POST /deliveries/:id/resend',
      fields: [DELIVERY],
      columns: COLUMNS,
      example: 'deliveries resend 7',
    },
    {
      command: 'release',
      what: 'Let held ones go, in the order given; all of them where none is named',
      route: 'POST /deliveries/release',
      fields: [field('[delivery...]', 'ids', 'their numbers', { kind: 'numbers' })],
      example: 'deliveries release 9 8 7',
    },
    {
      command: 'drop',
      what: 'Lose one that is held',
      route: 'POST /deliveries/:id/drop',
      fields: [DELIVERY],
      columns: COLUMNS,
      example: 'deliveries drop 7',
    },
  ],
};

export const WEBHOOKS: VerbGroup = {
  name: 'webhooks',
  what: 'How deliveries travel: repeated, late, out of order, lost',
  verbs: [
    {
      command: 'show',
      what: 'Show how they travel now',
      route: 'GET /webhooks',
      example: 'webhooks show',
    },
    {
      command: 'change',
      what: 'Change how they travel; what is not named stays',
      route: 'PATCH /webhooks',
      fields: [
        field('--drop <n>', 'drop', 'lose the next so many', { kind: 'number' }),
        field('--duplicate <n>', 'duplicate', 'so many more copies of each', { kind: 'number' }),
        field('--delay <time>', 'delayMs', 'send each later, as in 500ms or 2s', { kind: 'duration' }),
        field('--reorder <n>', 'reorder', 'keep so many, then send them in reverse', { kind: 'number' }),
        field('--hold <yes|no>', 'hold', 'keep each until it is released', { kind: 'yes or no' }),
        field('--attempts <n>', 'attempts', 'tries, until one is answered 2xx', { kind: 'number' }),
        field('--backoff <time>', 'backoffMs', 'before the second try; then doubled', { kind: 'duration' }),
        field('--timeout <time>', 'timeoutMs', 'how long an answer may take', { kind: 'duration' }),
      ],
      example: 'webhooks change --duplicate 1 --reorder 3',
    },
  ],
};

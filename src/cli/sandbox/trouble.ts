import type { Field, VerbGroup } from './verb.js';

const LIMIT: Field = { flags: '--limit <n>', into: 'limit', kind: 'number', what: 'show the newest so many' };
const DELIVERY: Field = { flags: '<delivery>', into: 'id', kind: 'number', what: 'its number' };
const SENT = ['id', 'event', 'state', 'attempts', 'createdAt', 'installationId', 'url'];
const CLOCK = ['now', 'isFrozen'];
const FAULTS = ['id', 'method', 'path', 'kind', 'options', 'remaining', 'hits'];

/** What a sandbox shows and does that a registry cannot. */
export const TROUBLE: readonly VerbGroup[] = [
  {
    name: 'calls',
    what: 'Calls of the registry',
    verbs: [
      {
        command: 'list',
        what: 'List the newest calls, by app and installation',
        route: 'GET /calls',
        fields: [
          { flags: '--app <name>', into: 'appId', kind: 'app', what: 'of one app, by id or name' },
          {
            flags: '--installation <name>',
            into: 'installationId',
            kind: 'installation',
            what: 'of one installation, by id or the name of its organization',
          },
          LIMIT,
        ],
        list: 'calls',
        columns: ['at', 'method', 'path', 'status', 'appId', 'installationId', 'version'],
        example: 'calls list --app my-app --limit 20',
      },
    ],
  },
  {
    name: 'transactions',
    what: 'Transfers and retirements',
    verbs: [
      {
        command: 'list',
        what: 'List the newest, with the app that made each',
        route: 'GET /transactions',
        fields: [LIMIT],
        list: 'transactions',
        columns: [
          'id',
          'type',
          'status',
          'amount',
          'creditId',
          'organizationId',
          'receiverId',
          'appId',
          'createdAt',
        ],
        example: 'transactions list --limit 5',
      },
    ],
  },
  {
    name: 'deliveries',
    what: 'Webhooks that were sent',
    verbs: [
      {
        command: 'list',
        what: 'List the newest, with what came of each attempt',
        route: 'GET /deliveries',
        fields: [LIMIT],
        list: 'deliveries',
        columns: SENT,
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
        columns: SENT,
        example: 'deliveries resend 7',
      },
      {
        command: 'release',
        what: 'Let held ones go, in the order given; all of them where none is named',
        route: 'POST /deliveries/release',
        fields: [{ flags: '[delivery...]', into: 'ids', kind: 'numbers', what: 'their numbers' }],
        example: 'deliveries release 9 8 7',
      },
      {
        command: 'drop',
        what: 'Lose one that is held',
        route: 'POST /deliveries/:id/drop',
        fields: [DELIVERY],
        columns: SENT,
        example: 'deliveries drop 7',
      },
    ],
  },
  {
    name: 'webhooks',
    what: 'How deliveries travel: repeated, late, out of order, lost',
    verbs: [
      { command: 'show', what: 'Show how they travel now', route: 'GET /webhooks', example: 'webhooks show' },
      {
        command: 'change',
        what: 'Change how they travel; what is not named stays',
        route: 'PATCH /webhooks',
        fields: [
          { flags: '--drop <n>', into: 'drop', kind: 'number', what: 'lose the next so many' },
          {
            flags: '--duplicate <n>',
            into: 'duplicate',
            kind: 'number',
            what: 'so many more copies of each',
          },
          {
            flags: '--delay <time>',
            into: 'delayMs',
            kind: 'duration',
            what: 'send each later, as in 500ms or 2s',
          },
          {
            flags: '--reorder <n>',
            into: 'reorder',
            kind: 'number',
            what: 'keep so many, then send them in reverse',
          },
          {
            flags: '--hold <yes|no>',
            into: 'hold',
            kind: 'yes or no',
            what: 'keep each until it is released',
          },
          {
            flags: '--attempts <n>',
            into: 'attempts',
            kind: 'number',
            what: 'tries, until one is answered 2xx',
          },
          {
            flags: '--backoff <time>',
            into: 'backoffMs',
            kind: 'duration',
            what: 'before the second try; then doubled',
          },
          {
            flags: '--timeout <time>',
            into: 'timeoutMs',
            kind: 'duration',
            what: 'how long an answer may take',
          },
        ],
        example: 'webhooks change --duplicate 1 --reorder 3',
      },
    ],
  },
  {
    name: 'clock',
    what: "The sandbox's own time, which tokens and reservations go by",
    verbs: [
      { command: 'show', what: 'Show its time', route: 'GET /clock', columns: CLOCK, example: 'clock show' },
      {
        command: 'move',
        what: 'Move it ahead',
        route: 'POST /clock',
        fields: [{ flags: '<time>', into: 'moveMs', kind: 'duration', what: 'as in 30s, 10m, 2h or 1d' }],
        columns: CLOCK,
        example: 'clock move 10m',
      },
      {
        command: 'back',
        what: 'Move it back',
        route: 'POST /clock',
        fields: [{ flags: '<time>', into: 'moveMs', kind: 'duration', what: 'as in 30s, 10m, 2h or 1d' }],
        body: ({ moveMs }) => ({ moveMs: -Number(moveMs) }),
        columns: CLOCK,
        example: 'clock back 1h',
      },
      {
        command: 'set',
        what: 'Set it',
        route: 'POST /clock',
        fields: [{ flags: '<instant>', into: 'at', what: 'as in 2026-12-31T23:59:00Z' }],
        columns: CLOCK,
        example: 'clock set 2026-12-31T23:59:00Z',
      },
      {
        command: 'freeze',
        what: 'Make it stand still',
        route: 'POST /clock',
        body: () => ({ frozen: true }),
        columns: CLOCK,
        example: 'clock freeze',
      },
      {
        command: 'run',
        what: 'Let it run on',
        route: 'POST /clock',
        body: () => ({ frozen: false }),
        columns: CLOCK,
        example: 'clock run',
      },
    ],
  },
  {
    name: 'faults',
    what: 'Trouble of the registry itself, route by route',
    verbs: [
      {
        command: 'list',
        what: 'List the faults, and how often each has struck',
        route: 'GET /faults',
        list: 'faults',
        columns: FAULTS,
        example: 'faults list',
      },
      {
        command: 'add',
        what: 'Add one; docs/sandbox.md says what each kind does',
        route: 'POST /faults',
        fields: [
          {
            flags: '<kind>',
            into: 'kind',
            what: 'status, silence, hangup, endless, html, redirect, wrongShape, slow, delay, cut, pageLoop, pageSize, pageLimit, rowsAppear or rowsDisappear',
          },
          { flags: '--method <name>', into: 'method', what: 'of one method only' },
          {
            flags: '--path <pattern>',
            into: 'path',
            what: '* is one segment, ** any rest (default: every path)',
          },
          {
            flags: '--count <n>',
            into: 'count',
            kind: 'number',
            what: 'for so many calls (default: every call)',
          },
          {
            flags: '--status <n>',
            into: 'options.status',
            kind: 'number',
            what: 'of status, html, redirect, wrongShape, pageLimit',
          },
          { flags: '--retry-after <text>', into: 'options.retryAfter', what: 'of status: seconds or a date' },
          {
            flags: '--body <json>',
            into: 'options.body',
            kind: 'json',
            what: 'of status, wrongShape and pageLimit',
          },
          { flags: '--location <url>', into: 'options.location', what: 'of redirect' },
          {
            flags: '--bytes <n>',
            into: 'options.bytes',
            kind: 'number',
            what: 'of cut: how much still comes',
          },
          {
            flags: '--clean-end <yes|no>',
            into: 'options.cleanEnd',
            kind: 'yes or no',
            what: 'of cut: looks whole',
          },
          {
            flags: '--interval <time>',
            into: 'options.intervalMs',
            kind: 'duration',
            what: 'of slow: between bytes',
          },
          { flags: '--delay <time>', into: 'options.delayMs', kind: 'duration', what: 'of delay' },
          {
            flags: '--rows <n>',
            into: 'options.rows',
            kind: 'number',
            what: 'of pageSize, pageLimit, rowsAppear, rowsDisappear',
          },
        ],
        columns: FAULTS,
        example:
          "faults add status --status 503 --retry-after 2 --path '/organizations/*/retirements' --count 3",
      },
      {
        command: 'remove',
        what: 'Remove one',
        route: 'DELETE /faults/:id',
        fields: [{ flags: '<fault>', into: 'id', kind: 'number', what: 'its number' }],
        example: 'faults remove 1',
      },
      { command: 'clear', what: 'Remove all of them', route: 'DELETE /faults', example: 'faults clear' },
    ],
  },
];

import { field, LIMIT, type Verb, type VerbGroup } from './verb.js';

export const STATUS: Verb = {
  command: 'status',
  what: 'Show its time, header prefix and profile, where its data stands, and how many calls came without a version header',
  route: 'GET /status',
  example: 'status',
};

export const CALLS: VerbGroup = {
  name: 'calls',
  what: 'Calls of the registry',
  verbs: [
    {
      command: 'list',
      what: 'List the newest calls, by app and installation',
      route: 'GET /calls',
      fields: [
        field('--app <name>', 'appId', 'of one app, by id or name', { kind: 'app' }),
        field(
          '--installation <name>',
          'installationId',
          'of one installation, by id or the name of its organization',
          { kind: 'installation' },
        ),
        LIMIT,
      ],
      list: 'calls',
      columns: ['at', 'method', 'path', 'status', 'appId', 'installationId', 'version'],
      example: 'calls list --app my-app --limit 20',
    },
  ],
};

const TRANSACTION = field('<transaction>', 'id', 'its id');
const MOVED = ['id', 'type', 'status', 'amount', 'creditId'];
const WHOSE = ['organizationId', 'receiverId', 'appId', 'createdAt'];

export const TRANSACTIONS: VerbGroup = {
  name: 'transactions',
  what: 'Transfers and retirements',
  verbs: [
    {
      command: 'list',
      what: 'List the newest, with the app that made each',
      route: 'GET /transactions',
      fields: [LIMIT],
      list: 'transactions',
      columns: [...MOVED, ...WHOSE],
      example: 'transactions list --limit 5',
    },
    {
      command: 'process',
      what: 'Carry out one that is queued',
      route: 'POST /transactions/:id/process',
      fields: [TRANSACTION],
      columns: [...MOVED, ...WHOSE],
      example: 'transactions process ID',
    },
    {
      command: 'fail',
      what: 'Let one that is queued fail: its credits go back',
      route: 'POST /transactions/:id/fail',
      fields: [TRANSACTION],
      columns: [...MOVED, ...WHOSE],
      example: 'transactions fail ID',
    },
  ],
};

import { field, LIMIT, type VerbGroup } from './verb.js';

const HOLD = ['id', 'state', 'amount', 'creditId', 'reservedToDate', 'organizationId', 'reserver.name'];
const TOKEN = ['id', 'isActive', 'expiresAt', 'createdAt', 'appId', 'installationId', 'organizationId'];

export const RESERVATIONS: VerbGroup = {
  name: 'reservations',
  what: 'Credits that apps hold',
  verbs: [
    {
      command: 'list',
      what: 'List the newest reservations of all organizations',
      route: 'GET /reservations',
      fields: [LIMIT],
      list: 'reservations',
      columns: HOLD,
      example: 'reservations list',
    },
    {
      command: 'expire',
      what: 'End one now, as if its ten minutes were over',
      route: 'POST /reservations/:id/expire',
      fields: [field('<reservation>', 'id', 'its id')],
      columns: HOLD,
      example: 'reservations expire ID',
    },
  ],
};

export const TOKENS: VerbGroup = {
  name: 'tokens',
  what: 'Access tokens',
  verbs: [
    {
      command: 'list',
      what: 'List the newest; what opens them is not shown',
      route: 'GET /tokens',
      fields: [LIMIT],
      list: 'tokens',
      columns: TOKEN,
      example: 'tokens list',
    },
    {
      command: 'expire',
      what: 'End one now, as if its two hours were over',
      route: 'POST /tokens/:id/expire',
      fields: [field('<token>', 'id', 'its id')],
      columns: TOKEN,
      example: 'tokens expire ID',
    },
  ],
};

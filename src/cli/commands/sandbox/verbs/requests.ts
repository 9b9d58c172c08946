import { field, LIMIT, type VerbGroup } from './verb.js';

const REQUEST = field('<request>', 'id', 'its id');
const COLUMNS = ['id', 'action', 'state', 'amount', 'creditId', 'fromOrganizationId', 'createdAt'];

export const REQUESTS: VerbGroup = {
  name: 'requests',
  what: 'Inventory requests that wait for an administrator',
  verbs: [
    {
      command: 'list',
      what: 'List the newest inventory requests of all organizations',
      route: 'GET /requests',
      fields: [LIMIT],
      list: 'creditRequests',
      columns: COLUMNS,
      example: 'requests list',
    },
    {
      command: 'accept',
      what: 'Accept a request: its credits move or are retired',
      route: 'POST /requests/:id/accept',
      fields: [REQUEST],
      columns: COLUMNS,
      example: 'requests accept ID',
    },
    {
      command: 'decline',
      what: 'Decline a request',
      route: 'POST /requests/:id/decline',
      fields: [REQUEST],
      columns: COLUMNS,
      example: 'requests decline ID',
    },
  ],
};

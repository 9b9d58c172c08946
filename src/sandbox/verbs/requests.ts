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
      answer: ({ requests }, { limit }) => requests.newest(limit()),
      fields: [LIMIT],
      list: 'creditRequests',
      columns: COLUMNS,
      example: 'requests list',
    },
    {
      command: 'accept',
      what: 'Accept a request: its credits move or are retired',
      route: 'POST /requests/:id/accept',
      answer: ({ requests }, { id }) => requests.accept(id),
      fields: [REQUEST],
      columns: COLUMNS,
      example: 'requests accept ID',
    },
    {
      command: 'decline',
      what: 'Decline a request',
      route: 'POST /requests/:id/decline',
      answer: ({ requests }, { id }) => requests.decline(id),
      fields: [REQUEST],
      columns: COLUMNS,
      example: 'requests decline ID',
    },
  ],
};

import { FAULT_KINDS, FAULT_OPTIONS } from '../../../../sandbox/trouble/kinds.js';
import { field, type VerbGroup } from './verb.js';

const COLUMNS = ['id', 'method', 'path', 'kind', 'options', 'remaining', 'hits'];

export const FAULTS: VerbGroup = {
  name: 'faults',
  what: 'Trouble of the registry itself, route by route',
  verbs: [
    {
      command: 'list',
      what: 'List the faults, and how often each has struck',
      route: 'GET /faults',
      list: 'faults',
      columns: COLUMNS,
      example: 'faults list',
    },
    {
      command: 'add',
      what: 'Add one; docs/client-and-sandbox.md says what each kind does',
      route: 'POST /faults',
      fields: [
        field('<kind>', 'kind', `one of ${FAULT_KINDS.join(', ')}`),
        field('--method <name>', 'method', 'of one method only'),
        field('--path <pattern>', 'path', '* is one segment, ** any rest (default: every path)'),
        field('--count <n>', 'count', 'for so many calls (default: every call)', { kind: 'number' }),
        ...Object.entries(FAULT_OPTIONS).map(([name, { flags, what, kind }]) =>
          field(flags, `options.${name}`, what, { kind }),
        ),
      ],
      columns: COLUMNS,
      example:
        "faults add status --status 503 --retry-after 2 --path '/organizations/*/retirements' --count 3",
    },
    {
      command: 'remove',
      what: 'Remove one',
      route: 'DELETE /faults/:id',
      fields: [field('<fault>', 'id', 'its number', { kind: 'number' })],
      example: 'faults remove 1',
    },
    {
      command: 'clear',
      what: 'Remove all of them',
      route: 'DELETE /faults',
      example: 'faults clear',
    },
  ],
};

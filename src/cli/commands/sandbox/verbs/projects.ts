import { field, required, type VerbGroup } from './verb.js';

const COLUMNS = ['id', 'num', 'fullName', 'isPublic', 'shortDescription'];
const DESCRIPTION = field('--short-description <text>', 'shortDescription', 'one sentence');
const PUBLIC = field('--public <yes|no>', 'isPublic', 'whether it is listed', { kind: 'yes or no' });

export const PROJECTS: VerbGroup = {
  name: 'projects',
  what: 'Projects that issue credits',
  verbs: [
    {
      command: 'list',
      what: 'List the projects, public or not',
      route: 'GET /projects',
      list: 'projects',
      columns: COLUMNS,
      example: 'projects list',
    },
    {
      command: 'create',
      what: 'Create a project',
      route: 'POST /projects',
      fields: [
        required('--name <name>', 'fullName', 'name of the project'),
        DESCRIPTION,
        PUBLIC,
        field('--country <code>', 'countryCode', 'two capital letters'),
        field('--proponent <id>', 'proponentId', 'whose it is', { kind: 'organization' }),
      ],
      columns: COLUMNS,
      example: 'projects create --name "Peat bog at Myrar" --country IS',
      next: ['Next: "carbon-mirror sandbox credits issue --project NAME --organization NAME --amount 100".'],
    },
    {
      command: 'change',
      what: "Change a project's name, description, or whether it is public",
      route: 'PATCH /projects/:id',
      fields: [
        field('<project>', 'id', 'its id, name or number', { kind: 'project' }),
        field('--name <name>', 'fullName', 'its new name'),
        DESCRIPTION,
        PUBLIC,
      ],
      columns: COLUMNS,
      example: 'projects change "Sonapur Wind Farm" --public no',
    },
  ],
};

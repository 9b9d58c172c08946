import { AMOUNT, CREDIT, MOVED, OF_ORGANIZATION, PROJECT } from './fields.js';
import type { VerbGroup } from './verb.js';

/** Projects and what they issue. */
export const GOODS: readonly VerbGroup[] = [
  {
    name: 'projects',
    what: 'Projects that issue credits',
    verbs: [
      {
        command: 'list',
        what: 'List the projects, public or not',
        route: 'GET /projects',
        list: 'projects',
        columns: ['id', 'num', 'fullName', 'isPublic', 'shortDescription'],
        example: 'projects list',
      },
      {
        command: 'create',
        what: 'Create a project',
        route: 'POST /projects',
        fields: [
          { flags: '--name <name>', into: 'fullName', required: true, what: 'name of the project' },
          { flags: '--short-description <text>', into: 'shortDescription', what: 'one sentence' },
          { flags: '--public <yes|no>', into: 'isPublic', kind: 'yes or no', what: 'whether it is listed' },
          { flags: '--country <code>', into: 'countryCode', what: 'two capital letters' },
          { flags: '--proponent <id>', into: 'proponentId', kind: 'organization', what: 'whose it is' },
        ],
        columns: ['id', 'num', 'fullName', 'isPublic', 'shortDescription'],
        example: 'projects create --name "Peat bog at Myrar" --country IS',
        next: 'Next: "carbon-mirror sandbox credits issue --project NAME --organization NAME --amount 100".',
      },
      {
        command: 'change',
        what: "Change a project's name, description, or whether it is public",
        route: 'PATCH /projects/:id',
        fields: [
          PROJECT,
          { flags: '--name <name>', into: 'fullName', what: 'its new name' },
          { flags: '--short-description <text>', into: 'shortDescription', what: 'one sentence' },
          { flags: '--public <yes|no>', into: 'isPublic', kind: 'yes or no', what: 'whether it is listed' },
        ],
        columns: ['id', 'num', 'fullName', 'isPublic', 'shortDescription'],
        example: 'projects change "Sonapur Wind Farm" --public no',
      },
    ],
  },
  {
    name: 'credits',
    what: 'Issue credits and move them',
    verbs: [
      {
        command: 'issue',
        what: 'Issue a new credit of a project, or more of one that exists',
        route: 'POST /credits',
        fields: [
          { ...OF_ORGANIZATION, into: 'organizationId' },
          AMOUNT,
          { flags: '--project <id>', into: 'projectId', kind: 'project', what: 'of a new credit' },
          { ...CREDIT, required: false, what: 'of one that exists' },
          { flags: '--place <place>', into: 'place', what: 'warehouse or inventory (default: inventory)' },
          { flags: '--vintage <year>', into: 'vintage', what: 'of a new credit' },
          { flags: '--type <type>', into: 'type', what: 'exPost or exAnte' },
          { flags: '--serialization <text>', into: 'serialization', what: 'of a new credit' },
        ],
        columns: MOVED,
        example:
          'credits issue --project 103 --organization "Harbour Ferries" --amount 100 --place warehouse',
      },
      {
        command: 'deposit',
        what: 'Move credits from the inventory into the warehouse',
        route: 'POST /organizations/:id/deposit',
        fields: [OF_ORGANIZATION, CREDIT, AMOUNT],
        columns: MOVED,
        example: 'credits deposit --organization "Harbour Ferries" --credit-id ID --amount 12.5',
      },
      {
        command: 'withdraw',
        what: 'Move credits from the warehouse into the inventory',
        route: 'POST /organizations/:id/withdraw',
        fields: [OF_ORGANIZATION, CREDIT, AMOUNT],
        columns: MOVED,
        example: 'credits withdraw --organization "Harbour Ferries" --credit-id ID --amount 12.5',
      },
      {
        command: 'retire-off-platform',
        what: 'Retire credits of the inventory outside the platform: a retirement that nobody has claimed',
        route: 'POST /organizations/:id/retire-off-platform',
        fields: [OF_ORGANIZATION, CREDIT, AMOUNT],
        example: 'credits retire-off-platform --organization "Harbour Ferries" --credit-id ID --amount 1',
      },
      {
        command: 'claim-retirement',
        what: 'Say for whom and why a retirement was made, or correct that',
        route: 'PATCH /retirements/:id',
        fields: [
          { flags: '<retirement>', into: 'id', what: 'its id' },
          { flags: '--beneficiary <name>', into: 'beneficiary', required: true, what: 'for whom' },
          { flags: '--reason <text>', into: 'reason', required: true, what: 'why' },
          { flags: '--comment <text>', into: 'comment', what: 'anything else' },
        ],
        columns: [
          'id',
          'isClaimed',
          'beneficiary',
          'reason',
          'comment',
          'amount',
          'serialization',
          'createdAt',
        ],
        example: 'credits claim-retirement ID --beneficiary "Harbour Ferries" --reason "Voluntary purposes"',
      },
    ],
  },
];

import { AMOUNT, CREDIT, field, OF_ORGANIZATION, required, type VerbGroup } from './verb.js';

const COLUMNS = ['creditId', 'organizationId', 'place', 'amount'];

export const CREDITS: VerbGroup = {
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
        field('--project <id>', 'projectId', 'of a new credit', { kind: 'project' }),
        { ...CREDIT, required: false, what: 'of one that exists' },
        field('--place <place>', 'place', 'warehouse or inventory (default: inventory)'),
        field('--vintage <year>', 'vintage', 'of a new credit'),
        field('--type <type>', 'type', 'exPost or exAnte'),
        field('--serialization <text>', 'serialization', 'of a new credit'),
      ],
      columns: COLUMNS,
      example: 'credits issue --project 103 --organization "Harbour Ferries" --amount 100 --place warehouse',
    },
    {
      command: 'deposit',
      what: 'Move credits from the inventory into the warehouse',
      route: 'POST /organizations/:id/deposit',
      fields: [OF_ORGANIZATION, CREDIT, AMOUNT],
      columns: COLUMNS,
      example: 'credits deposit --organization "Harbour Ferries" --credit-id ID --amount 12.5',
    },
    {
      command: 'withdraw',
      what: 'Move credits from the warehouse into the inventory',
      route: 'POST /organizations/:id/withdraw',
      fields: [OF_ORGANIZATION, CREDIT, AMOUNT],
      columns: COLUMNS,
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
        field('<retirement>', 'id', 'its id'),
        required('--beneficiary <name>', 'beneficiary', 'for whom'),
        required('--reason <text>', 'reason', 'why'),
        field('--comment <text>', 'comment', 'anything else'),
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
};

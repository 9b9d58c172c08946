import { field, required, type VerbGroup } from './verb.js';

export const ORGANIZATIONS: VerbGroup = {
  name: 'organizations',
  what: 'Organizations and their users',
  verbs: [
    {
      command: 'list',
      what: 'List the organizations',
      route: 'GET /organizations',
      list: 'organizations',
      columns: ['id', 'fullName', 'type', 'countryCode', 'createdAt'],
      example: 'organizations list',
    },
    {
      command: 'create',
      what: 'Create a user and an organization, without an app',
      route: 'POST /organizations',
      fields: [
        required('--name <name>', 'organization.fullName', 'name of the organization'),
        required(
          '--type <type>',
          'organization.type',
          'projectProponent, projectDeveloper, marketParticipant, validationBody or other',
        ),
        field('--country <code>', 'organization.countryCode', 'two capital letters'),
        required('--email <address>', 'user.email', 'e-mail address of its user'),
        field('--user-name <name>', 'user.fullName', 'name of its user'),
      ],
      columns: ['organization.id', 'organization.fullName', 'organization.type', 'user.id', 'user.email'],
      example:
        'organizations create --name "Harbour Ferries" --type marketParticipant --country IS --email ada@harbour.example',
    },
    {
      command: 'claim',
      what: 'Let the user claim an organization that an app created',
      route: 'POST /organizations/:id/claim',
      fields: [field('<organization>', 'id', 'its id or name', { kind: 'organization' })],
      columns: ['id', 'fullName', 'type', 'updatedAt'],
      example: 'organizations claim "Harbour Ferries"',
    },
  ],
};

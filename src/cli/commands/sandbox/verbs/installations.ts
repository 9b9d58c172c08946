import { field, OF_ORGANIZATION, type VerbGroup } from './verb.js';

const INSTALLATION = field('<installation>', 'id', 'its id, or the name of its organization', {
  kind: 'installation',
});
const COLUMNS = ['id', 'organization.fullName', 'organization.id', 'appNameId', 'state', 'permissions'];

export const INSTALLATIONS: VerbGroup = {
  name: 'installations',
  what: 'Apps on organizations',
  verbs: [
    {
      command: 'list',
      what: 'List all installations, with their state',
      route: 'GET /installations',
      list: 'installations',
      columns: COLUMNS,
      example: 'installations list',
    },
    {
      command: 'install',
      what: 'Install an app on an organization, with the permissions that it asks for',
      route: 'POST /installations',
      fields: [
        field('--app <name>', 'appId', 'id or name of the app (default: REGISTRY_APP_ID)', {
          kind: 'app',
          required: true,
          setting: 'REGISTRY_APP_ID',
        }),
        { ...OF_ORGANIZATION, into: 'organizationId' },
      ],
      columns: COLUMNS,
      example: 'installations install --app my-app --organization "Harbour Ferries"',
    },
    {
      command: 'uninstall',
      what: 'Take the app off its organization',
      route: 'POST /installations/:id/uninstall',
      fields: [INSTALLATION],
      columns: COLUMNS,
      example: 'installations uninstall "Harbour Ferries"',
      next: ['Uninstalled: what its app holds of the organization stays with the app.'],
    },
    {
      command: 'suspend',
      what: 'Suspend an installation',
      route: 'POST /installations/:id/suspend',
      fields: [INSTALLATION],
      columns: COLUMNS,
      example: 'installations suspend "Harbour Ferries"',
      next: ['Suspended: its tokens answer 403 until "carbon-mirror sandbox installations unsuspend ID".'],
    },
    {
      command: 'unsuspend',
      what: 'Let a suspended installation work again',
      route: 'POST /installations/:id/unsuspend',
      fields: [INSTALLATION],
      columns: COLUMNS,
      example: 'installations unsuspend "Harbour Ferries"',
      next: ['It works again.'],
    },
    {
      command: 'accept-permissions',
      what: 'Grant what the app asks for now',
      route: 'POST /installations/:id/accept-permissions',
      fields: [INSTALLATION],
      columns: COLUMNS,
      example: 'installations accept-permissions "Harbour Ferries"',
    },
  ],
};

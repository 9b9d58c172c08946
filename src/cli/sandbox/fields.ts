import type { Field } from './verb.js';

/** What the commands of people and of their goods take, and what they show. */
export const APP: Field = { flags: '<app>', into: 'id', kind: 'app', what: 'its id or name' };
export const ORGANIZATION: Field = {
  flags: '<organization>',
  into: 'id',
  kind: 'organization',
  what: 'its id or name',
};
export const OF_ORGANIZATION: Field = {
  flags: '--organization <name>',
  into: 'id',
  kind: 'organization',
  required: true,
  what: 'id or name of the organization',
};
export const PROJECT: Field = {
  flags: '<project>',
  into: 'id',
  kind: 'project',
  what: 'its id, name or number',
};
export const INSTALLATION: Field = {
  flags: '<installation>',
  into: 'id',
  kind: 'installation',
  what: 'its id, or the name of its organization',
};
export const REQUEST: Field = { flags: '<request>', into: 'id', what: 'its id' };
export const CREDIT: Field = {
  flags: '--credit-id <id>',
  into: 'creditId',
  required: true,
  what: 'id of the credit',
};
export const AMOUNT: Field = {
  flags: '--amount <tonnes>',
  into: 'amount',
  kind: 'number',
  required: true,
  what: 'how much',
};
export const LIMIT: Field = {
  flags: '--limit <n>',
  into: 'limit',
  kind: 'number',
  what: 'show the newest so many',
};
export const PERMISSIONS: Field = {
  flags: '--permission <name...>',
  into: 'permissions',
  kind: 'texts',
  what: 'permission to ask for, such as organization_warehouse:write; all that are wanted',
};
export const WEBHOOK: readonly Field[] = [
  { flags: '--webhook-url <url>', into: 'webhookUrl', what: 'where its webhooks go' },
  { flags: '--webhook-secret <text>', into: 'webhookSecret', what: 'what they are signed with' },
];

export const INSTALLED = [
  'id',
  'organization.fullName',
  'organization.id',
  'appNameId',
  'state',
  'permissions',
];
export const MOVED = ['creditId', 'organizationId', 'place', 'amount'];
export const REQUESTS = ['id', 'action', 'state', 'amount', 'creditId', 'fromOrganizationId', 'createdAt'];

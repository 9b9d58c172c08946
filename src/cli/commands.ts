import type { CommandModule } from './command.js';

/** Every command, in the order of the help, and the module that holds it. */
export const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  up: () => import('./up.js'),
  receive: () => import('./receive.js'),
  work: () => import('./work.js'),
  status: () => import('./status.js'),
  available: () => import('./available.js'),
  query: () => import('./query.js'),
  installations: () => import('./installations.js'),
  organizations: () => import('./organizations.js'),
  warehouse: () => import('./warehouse.js'),
  inventory: () => import('./inventory.js'),
  retirements: () => import('./retirements.js'),
  projects: () => import('./projects.js'),
  'as-of': () => import('./as-of.js'),
  certificates: () => import('./certificates.js'),
  deliveries: () => import('./deliveries.js'),
  jobs: () => import('./jobs.js'),
  history: () => import('./history.js'),
  snapshot: () => import('./snapshot.js'),
  schema: () => import('./schema.js'),
  sandbox: () => import('./sandbox.js'),
  migrate: () => import('./migrate.js'),
};

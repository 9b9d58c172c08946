import { APPS } from './apps.js';
import { CALLS, TRANSACTIONS } from './calls.js';
import { CLOCK } from './clock.js';
import { CREDITS } from './credits.js';
import { DELIVERIES, WEBHOOKS } from './deliveries.js';
import { FAULTS } from './faults.js';
import { RESERVATIONS, TOKENS } from './holds.js';
import { INSTALLATIONS } from './installations.js';
import { ORGANIZATIONS } from './organizations.js';
import { PROJECTS } from './projects.js';
import { REQUESTS } from './requests.js';
import type { VerbGroup } from './verb.js';

/** What people do with a registry and its description leaves to them; then what a sandbox can and a registry cannot. */
export const VERB_GROUPS: readonly VerbGroup[] = [
  APPS,
  ORGANIZATIONS,
  INSTALLATIONS,
  REQUESTS,
  PROJECTS,
  CREDITS,
  RESERVATIONS,
  TOKENS,
  CALLS,
  TRANSACTIONS,
  DELIVERIES,
  WEBHOOKS,
  CLOCK,
  FAULTS,
];

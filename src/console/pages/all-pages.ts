import { createListPages } from '../lists/list-page.js';
import { ALL_LISTS } from '../../query/lists/list-definitions.js';
import type { ConsolePage } from '../page.js';
import { BALANCE_FILES, createBalancePage } from './balance.js';
import { CHANGES } from './changes.js';
import { COMPARE } from './compare.js';
import { DELIVERY } from './delivery.js';
import { HELP } from './help.js';
import { JOB } from './job.js';
import { createNowPage } from './now.js';
import { ORDER } from './order.js';
import { ORGANIZATION } from './organization.js';
import { RETIREMENT } from './retirement.js';
import { RETIREMENT_TOTALS } from './retirement-totals.js';
import { SEARCH } from './search.js';
import { CREDIT_AND_PROJECT_PAGES } from './credits-and-projects.js';

/** Creates all pages except SQL, Demo and the confirmation of orders, which need more than a database reader. */
export const createPages = (): readonly ConsolePage[] => [
  createNowPage(),
  ...CHANGES,
  ...COMPARE,
  createBalancePage(),
  ...BALANCE_FILES,
  ...ALL_LISTS.flatMap(createListPages),
  ...RETIREMENT_TOTALS,
  ORGANIZATION,
  ...CREDIT_AND_PROJECT_PAGES,
  RETIREMENT,
  ORDER,
  DELIVERY,
  JOB,
  SEARCH,
  HELP,
];

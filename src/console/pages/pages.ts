import { listPage } from '../lists/list-page.js';
import { ALL_LISTS } from '../../query/lists/lists.js';
import type { Page } from '../page.js';
import { BALANCE } from './balance.js';
import { CHANGES } from './changes.js';
import { DELIVERY } from './delivery.js';
import { HELP } from './help.js';
import { JOB } from './job.js';
import { createNow } from './now.js';
import { ORGANIZATION } from './organization.js';
import { RETIREMENT } from './retirement.js';
import { SEARCH } from './search.js';
import { THINGS } from './credits-and-projects.js';

/** Every page there is. */
export const createPages = (): readonly Page[] => [
  createNow(),
  ...CHANGES,
  BALANCE,
  ...ALL_LISTS.flatMap(listPage),
  ORGANIZATION,
  ...THINGS,
  RETIREMENT,
  DELIVERY,
  JOB,
  SEARCH,
  HELP,
];

import { listPage } from '../lists/list-page.js';
import { LISTINGS } from '../lists/listings.js';
import type { Page } from '../page.js';
import { rowsFiles } from '../lists/rows-file.js';
import { CHANGES } from './changes.js';
import { DELIVERY } from './delivery.js';
import { HELP } from './help.js';
import { JOB } from './job.js';
import { NOW } from './now.js';
import { ORGANIZATION } from './organization.js';
import { RETIREMENT } from './retirement.js';
import { SEARCH } from './search.js';

/** Every page there is. */
export const PAGES: readonly Page[] = [
  NOW,
  ...CHANGES,
  ...LISTINGS.flatMap(listing => [listPage(listing), ...rowsFiles(listing)]),
  ORGANIZATION,
  RETIREMENT,
  DELIVERY,
  JOB,
  SEARCH,
  HELP,
];

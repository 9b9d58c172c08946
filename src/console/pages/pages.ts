import type { Page } from '../page.js';
import { NOW } from './now.js';

/** Every page there is. */
export const PAGES: readonly Page[] = [NOW];

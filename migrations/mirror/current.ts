import { RESOURCES as RESOURCES_OF_0001 } from './0001/mirrored.js';

/**
 * The tables of the mirrored resources after all migrations. The row types come from them. A migration that adds a column defines them
 * anew, with that column: then take them from there.
 */
export const RESOURCES = RESOURCES_OF_0001;

import { type Dialect, joined, type Part, raw } from '../schema.js';
import { FUNCTIONS } from './0001/functions.js';
import { OF_POSTGRES, TABLES } from './0001/tables.js';

export function inbox0001(engine: Dialect['engine']): Part {
  if (engine === 'sqlite') return joined(TABLES);
  return joined([...TABLES, ...OF_POSTGRES, raw(() => FUNCTIONS)]);
}

import { type Dialect, joined, performSteps } from '../schema.js';
import { FUNCTIONS } from './0001/functions.js';
import { OF_POSTGRES, TABLES } from './0001/tables.js';

export function inbox0001(dialect: Dialect): string {
  const parts =
    dialect.engine === 'postgres'
      ? [performSteps('inbox'), ...TABLES, ...OF_POSTGRES, () => FUNCTIONS]
      : TABLES;
  return joined(parts)(dialect);
}

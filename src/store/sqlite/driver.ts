import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';

/** A connection to a SQLite database. */
export type Sqlite = BetterSqlite3.Database;

/** The Node version decides which driver is loaded: better-sqlite3 13 crashes Node 20, and 12 aborts Node 24.19 and later. */
const FROM_NODE_22 = Number(process.versions.node.split('.')[0]) >= 22;
const NEEDED = `better-sqlite3 ${FROM_NODE_22 ? '13' : '12'}`;
const CURE = FROM_NODE_22
  ? 'Install all packages again with this Node and without --omit=optional: npm ci'
  : `npm leaves it out where it can neither fetch a binary nor compile one. Take Node 22 or later, or with python3, make and g++: npm_config_nodedir=${join(process.execPath, '../..')} npm ci`;

/** Thrown if the driver for this Node version is not installed, or has no binary for this machine. */
class DriverError extends Error {
  override readonly name = 'DriverError';
}

/** The SQLite driver for this Node version. Only the sandbox loads the driver by itself. */
export const Database: typeof BetterSqlite3 = await loadDriver();

/** Imports the driver for this Node version. Throws a `DriverError` with advice if that fails. */
async function loadDriver(): Promise<typeof BetterSqlite3> {
  try {
    const driver = FROM_NODE_22 ? await import('better-sqlite3') : await import('better-sqlite3-12');
    new driver.default(':memory:').close();
    return driver.default;
  } catch (error) {
    const [why = ''] = String(error).split('\n');
    const needs = `Node ${process.versions.node} needs ${NEEDED}, and it cannot be loaded: ${why}`;
    throw new DriverError(`${needs}\n${CURE}`, { cause: error });
  }
}

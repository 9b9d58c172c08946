import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { MirrorTables } from '../typed/mirror-tables.js';
import { withConnections } from './await-schema.js';
import { createPool, type PoolOptions } from './driver.js';
import { assertMigrated } from './migrate.js';
import { createReadOnlyDriver } from './read-only-driver.js';

const CONNECTIONS = 4;

/**
 * Opens the schema `mirror` of a database for typed queries, each in a read-only transaction. Throws unless the schema is
 * migrated.
 */
export async function openTypedMirror(url: string): Promise<Kysely<MirrorTables>> {
  const options: PoolOptions = {
    url,
    name: 'carbon-mirror mirror',
    connections: CONNECTIONS,
    // The next query opens a new connection or throws.
    onFault: () => undefined,
  };
  await withConnections(options, postgres => assertMigrated(postgres, 'mirror'));
  const pool = createPool(options);
  return new Kysely<MirrorTables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => createReadOnlyDriver(pool),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

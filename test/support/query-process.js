/** Runs the SQL of the second argument on the database of the first, and prints the rows as JSON lines. */
import { runSqlQuery } from '../../dist/src/store/postgres/run-sql-query.js';

const [url = '', sql = ''] = process.argv.slice(2);
const options = { url, name: 'asking', connections: 1, onFault: () => undefined };
const { rows } = await runSqlQuery(options, { sql, timeLimitMs: 600_000 });
for await (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);

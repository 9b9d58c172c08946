// Answers one line of SQL as `duckdb -c` does, as JSON: the rows, or why there are none. It fetches nothing.
import { DuckDBInstance } from '@duckdb/node-api';

const [sql = ''] = process.argv.slice(2);
const settings = { autoinstall_known_extensions: 'false' };
const connection = await (await DuckDBInstance.create(':memory:', settings)).connect();
try {
  const answer = await connection.runAndReadAll(sql);
  console.log(JSON.stringify({ rows: answer.getRowObjectsJson() }));
} catch (error) {
  console.log(JSON.stringify({ fault: String(error) }));
}

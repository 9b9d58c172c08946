/** A worker that is killed while a certificate arrives: argument one is the database. It says "begun" and goes on. */
import { openPostgres } from '../../dist/src/store/postgres/open.js';
import { createPieces } from '../../dist/src/store/postgres/mirror/pieces.js';

const [url] = process.argv.slice(2);
const postgres = openPostgres({ url, name: 'killed', connections: 1, onFault: () => undefined });

async function* endless() {
  yield Buffer.from('%PDF');
  for (let sent = 0; ; sent += 1) {
    if (sent === 5) process.stdout.write('begun\n');
    yield Buffer.alloc(1024 * 1024);
  }
}

await createPieces(postgres, { now: Date.now, maxBytes: Infinity }).save('r-1', endless());

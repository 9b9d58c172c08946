/** A worker that stops in the middle of saving a certificate, so that a test can kill it. The argument is the database URL. It prints "begun" once it waits. */
import { openPostgres } from '../../dist/src/store/postgres/open-postgres.js';
import { createCertificateTable } from '../../dist/src/store/postgres/mirror/certificate-table.js';

const [url = ''] = process.argv.slice(2);
const postgres = openPostgres({ url, name: 'killed', connections: 1, onFault: () => undefined });

async function* streamIncompletePdf() {
  yield Buffer.from('%PDF');
  yield Buffer.alloc(5 * 1024 * 1024);
  process.stdout.write('begun\n');
  await new Promise(resolve => setTimeout(resolve, 60_000));
}

await createCertificateTable(postgres, { now: Date.now }).save('r-1', streamIncompletePdf());

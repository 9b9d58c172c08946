// Retires one tonne of exPost credits from the first warehouse that has one, and saves the certificate.
//
//   REGISTRY_BASE_URL=... REGISTRY_APP_ID=... REGISTRY_PRIVATE_KEY_FILE=... node docs/examples/retire.js FILE
//   (and REGISTRY_HEADER_PREFIX, if the registry uses another prefix than "registry")
import { randomUUID } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createClient } from 'carbon-mirror/client';

const [fileOption] = process.argv.slice(2);

const client = createClient({
  baseUrl: process.env['REGISTRY_BASE_URL'],
  headerPrefix: process.env['REGISTRY_HEADER_PREFIX'],
  appId: process.env['REGISTRY_APP_ID'],
  privateKey:
    process.env['REGISTRY_PRIVATE_KEY'] ?? readFileSync(process.env['REGISTRY_PRIVATE_KEY_FILE'], 'utf8'),
});

const { organization, credit } = await findCredit();
const reservation = await organization.reserve({ creditId: credit.creditId, amount: '1' });
process.stdout.write(`${credit.serialization}: reserved until ${reservation.reservedToDate}\n`);

// The comment distinguishes this retirement from all others, so that findRetirement can find it.
const retirementData = {
  reason: 'Voluntary purposes',
  beneficiaryName: 'Harbour Bakery ehf.',
  comment: `order ${randomUUID()}`,
};
await organization.finishReservation(reservation.id, 'retire', { retirementData });
const retirement = await organization.findRetirement({ reservation, retirementData });
const certificate = await organization.downloadCertificate(retirement.id);
const file = fileOption ?? certificate.fileName ?? 'certificate.pdf';
await pipeline(certificate.body, createWriteStream(file));
process.stdout.write(`retired ${retirement.amount.exact} t for ${retirement.beneficiary}: ${file}\n`);

async function findCredit() {
  for await (const installation of client.app.listInstallations()) {
    const seller = client.organization(installation.id, installation.organizationId);
    for await (const match of seller.listWarehouse())
      if (match.type === 'exPost' && match.amount.value >= 1) return { organization: seller, credit: match };
  }
  throw new Error('no warehouse has a tonne of exPost credits');
}

// Sells one tonne to a customer who has no organization yet: creates the organization and transfers the credits to it.
//
//   REGISTRY_BASE_URL=... REGISTRY_APP_ID=... REGISTRY_PRIVATE_KEY_FILE=... \
//     node docs/examples/sell.js SELLER_ORGANIZATION_ID CREDIT_ID CUSTOMER_EMAIL CUSTOMER_ORGANIZATION
import { readFileSync } from 'node:fs';
import { createClient, RegistryError } from 'carbon-mirror/client';

const [sellerId, creditId, email, fullName] = process.argv.slice(2);

const client = createClient({
  baseUrl: process.env['REGISTRY_BASE_URL'],
  headerPrefix: process.env['REGISTRY_HEADER_PREFIX'],
  appId: process.env['REGISTRY_APP_ID'],
  privateKey:
    process.env['REGISTRY_PRIVATE_KEY'] ?? readFileSync(process.env['REGISTRY_PRIVATE_KEY_FILE'], 'utf8'),
});

const installation = await client.app.readInstallationOf(sellerId);
const seller = client.organization(installation.id, sellerId);

// Reserve first: for the next ten minutes nobody else can buy the tonne.
const reservation = await seller.reserve({ creditId, amount: '1' });

try {
  const customer = await client.app.createUserAndOrganization({
    user: { email },
    organization: { fullName, type: 'other' },
  });
  await seller.finishReservation(reservation.id, 'transfer', {
    receiverId: customer.installation.organizationId,
    transferComment: 'Thank you',
  });
  process.stdout.write(`1 t of ${creditId} now belongs to ${fullName}\n`);
} catch (error) {
  // If the outcome is unknown, do not undo or repeat anything: a person must decide.
  if (error instanceof RegistryError && error.code === 'outcome_unknown') throw error;
  await seller.cancelReservation(reservation.id);
  throw error;
}

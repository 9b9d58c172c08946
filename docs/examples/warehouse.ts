// Prints every credit in the warehouses of all organizations that have installed the app.
import { readFileSync } from 'node:fs';
import { createClient, RegistryError } from 'carbon-mirror/client';

const client = createClient({
  baseUrl: process.env['REGISTRY_BASE_URL'] ?? 'http://127.0.0.1:8090',
  headerPrefix: process.env['REGISTRY_HEADER_PREFIX'] ?? 'registry',
  appId: process.env['REGISTRY_APP_ID'] ?? '',
  privateKey:
    process.env['REGISTRY_PRIVATE_KEY'] ??
    readFileSync(process.env['REGISTRY_PRIVATE_KEY_FILE'] ?? 'key.pem', 'utf8'),
});

for await (const { id, organizationId } of client.app.listInstallations()) {
  if (organizationId === null) continue;
  const organization = client.organization(id, organizationId);
  try {
    for await (const credit of organization.listWarehouse())
      console.log(credit.serialization, credit.amount.exact);
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code !== 'forbidden') throw error;
    console.log(organizationId, 'does not let this app see its warehouse');
  }
}

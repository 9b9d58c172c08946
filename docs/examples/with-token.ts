// Prints an organization and the number of projects, with an access token of that organization instead of an app.
import { createClientWithToken } from 'carbon-mirror/client';

const client = createClientWithToken({
  baseUrl: process.env['REGISTRY_BASE_URL'] ?? 'http://127.0.0.1:8090',
  headerPrefix: process.env['REGISTRY_HEADER_PREFIX'] ?? 'registry',
  token: process.env['ORGANIZATION_TOKEN'] ?? '',
});

const organization = client.organization(process.env['ORGANIZATION_ID'] ?? '');
console.log((await organization.readOrganization()).fullName);
for await (const project of client.token.listProjects()) console.log(project.fullName);

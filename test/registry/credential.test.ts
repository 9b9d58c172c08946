import { expect, test } from 'vitest';
import { createAppClient } from '../../src/registry/app-client.js';
import { isCredential } from '../../src/registry/http/credential.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import {
  createAppTokenSource,
  createInstallationTokenSource,
  createJwtSource,
  createTestHttpClient,
} from '../support/registry-client.js';

test('a client with the wrong kind of credential does not compile', () => {
  const http = createTestHttpClient('https://registry.test');
  const organization = { http, organizationId: 'org-1', appId: 'app-1' };
  const plain = { get: async () => ({ token: 'crs_1', fresh: true }), discard: () => undefined };

  createAppClient({ http, token: createJwtSource() });
  // @ts-expect-error an app token is no JWT
  createAppClient({ http, token: createAppTokenSource() });
  // @ts-expect-error an installation token is no JWT
  createAppClient({ http, token: createInstallationTokenSource() });
  // @ts-expect-error any text is no JWT
  createAppClient({ http, token: plain });

  createOrganizationClient({ ...organization, token: createInstallationTokenSource() });
  // @ts-expect-error an app token has no organization
  createOrganizationClient({ ...organization, token: createAppTokenSource() });
  // @ts-expect-error a JWT has no organization
  createOrganizationClient({ ...organization, token: createJwtSource() });

  createTokenClient({ http, token: createAppTokenSource() });
  createTokenClient({ http, token: createInstallationTokenSource() });
  // @ts-expect-error a JWT is no access token
  createTokenClient({ http, token: createJwtSource() });

  const organizationClient = createOrganizationClient({
    ...organization,
    token: createInstallationTokenSource(),
  });
  // @ts-expect-error only the app itself lists installations
  expect(organizationClient.listInstallations).toBeUndefined();
  // @ts-expect-error an action is one of three
  organizationClient.finishReservation('res-1', 'burn', {}).catch(() => undefined);
});

test('a credential is printable ASCII without spaces', () => {
  expect(isCredential('eyJ.x.y')).toBe(true);
  for (const text of ['', 'a b', 'a\nb', 'ä', 'x'.repeat(8193)]) expect(isCredential(text)).toBe(false);
});

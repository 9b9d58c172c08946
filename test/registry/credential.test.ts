import { expect, test } from 'vitest';
import { createAppClient } from '../../src/registry/app-client.js';
import { isCredential } from '../../src/registry/http/credential.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import { appTokenSource, installationTokenSource, jwtSource, testHttp } from '../support/registry-client.js';

test('a client that is given the wrong credential does not compile', () => {
  const http = testHttp('https://registry.test');
  const organization = { http, organizationId: 'org-1', appId: 'app-1' };
  const plain = { get: async () => ({ token: 'crs_1', fresh: true }), refuse: () => undefined };

  createAppClient({ http, token: jwtSource() });
  // @ts-expect-error an app token is no JWT
  createAppClient({ http, token: appTokenSource() });
  // @ts-expect-error an installation token is no JWT
  createAppClient({ http, token: installationTokenSource() });
  // @ts-expect-error any text is no JWT
  createAppClient({ http, token: plain });

  createOrganizationClient({ ...organization, token: installationTokenSource() });
  // @ts-expect-error an app token has no organization
  createOrganizationClient({ ...organization, token: appTokenSource() });
  // @ts-expect-error a JWT has no organization
  createOrganizationClient({ ...organization, token: jwtSource() });

  createTokenClient({ http, token: appTokenSource() });
  createTokenClient({ http, token: installationTokenSource() });
  // @ts-expect-error a JWT is no access token
  createTokenClient({ http, token: jwtSource() });

  const organizationClient = createOrganizationClient({ ...organization, token: installationTokenSource() });
  // @ts-expect-error only the app itself lists installations
  expect(organizationClient.listInstallations).toBeUndefined();
  // @ts-expect-error an action is one of three
  organizationClient.finishReservation('res-1', 'burn', {}).catch(() => undefined);
});

test('a credential is printable text', () => {
  expect(isCredential('eyJ.x.y')).toBe(true);
  for (const text of ['', 'a b', 'a\nb', 'ä', 'x'.repeat(8193)]) expect(isCredential(text)).toBe(false);
});

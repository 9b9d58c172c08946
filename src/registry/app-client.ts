import type { Call, Http } from './http/calls.js';
import type { AppClient, CreatedOrganization } from './clients.js';
import type { AppJwt, TokenSource } from './http/credential.js';
import { badAnswer, memberSource, readSource } from './json/fields.js';
import type { Installation } from './model.js';
import { parseInstallation, parseOrganization, parseUser } from './json/parse.js';
import { collect } from './writes/look-up.js';
import { writeOnce } from './writes/once.js';
import { listPages } from './pages/pages.js';
import { parseToken } from './json/parse-token.js';
import { type ListOptions, observed, type ReadOptions } from './reading.js';
import { userAndOrganizationBody } from './writes/requests.js';
import { isSameId } from './owner.js';
import { bodyText, readOne } from './pages/single.js';

export interface AppClientOptions {
  readonly http: Http;
  readonly token: TokenSource<AppJwt>;
}

type Params = Readonly<Record<string, string>>;

const INSTALLATION = { name: 'installation', parse: parseInstallation };

export function createAppClient({ http, token }: AppClientOptions): AppClient {
  const get = (route: string, params: Params = {}): Call => ({ method: 'GET', route, params, token });

  function listInstallations(options?: ListOptions) {
    const call = get('/app/installations');
    return listPages({ http, call, key: 'installations', parse: parseInstallation }, options);
  }

  /** Minting may be repeated: a token too many is forgotten and runs out. */
  async function mint(route: string, params: Params, options: ReadOptions = {}) {
    const call: Call = { method: 'POST', route, params, token, repeatable: true };
    return bodyText(await http.call({ ...call, ...observed(options) }));
  }

  return {
    createAppToken: async options => parseToken(await mint('/app/accessTokens', {}, options)),
    createInstallationToken: async (installationId, options) =>
      parseToken(await mint('/app/installations/:installationId/accessTokens', { installationId }, options)),
    createUserAndOrganization: async (request, options = {}) =>
      writeOnce<CreatedOrganization>(http, options, {
        call: {
          method: 'POST',
          route: '/app/create/user/organization',
          body: userAndOrganizationBody(request),
          token,
        },
        read: answer => parseCreated(bodyText(answer)),
        lookUp: async since => {
          const { fullName } = request.organization;
          const found = await collect(listInstallations(options), ({ organization, createdAt }) =>
            organization?.fullName === fullName && since(createdAt) ? 'yes' : 'no',
          );
          return { candidates: found.candidates.map(asCreated), certain: found.certain.map(asCreated) };
        },
        newId: ({ installation }) => installation.id,
        twin: request.organization.fullName,
      }),
    listInstallations,
    readInstallation: (installationId, options) =>
      readOne(
        http,
        get('/app/installations/:installationId', { installationId }),
        { ...INSTALLATION, id: installationId },
        options,
      ),
    readInstallationOf: async (organizationId, options) => {
      const call = get('/app/organizations/:organizationId/installation', { organizationId });
      const installation = await readOne(http, call, INSTALLATION, options);
      const owner = installation.organizationId ?? organizationId;
      if (isSameId(owner, organizationId)) return installation;
      throw badAnswer('installation', 'the one of the organization', 'another');
    },
  };
}

function asCreated(installation: Installation): CreatedOrganization {
  return { user: null, organization: installation.organization, installation };
}

/** Only the installation is certain to be there. */
function parseCreated(text: string): CreatedOrganization {
  const source = readSource(text, 'created');
  const installed = memberSource(source, 'installation');
  if (installed === null) throw badAnswer('created.installation', 'an object', 'none');
  const installation = parseInstallation(installed);
  const organization = memberSource(source, 'organization');
  const user = memberSource(source, 'user');
  return {
    user: user && parseUser(user),
    organization: organization ? parseOrganization(organization) : installation.organization,
    installation,
  };
}

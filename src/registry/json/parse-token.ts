import {
  type AppAccessToken,
  type InstallationAccessToken,
  isAppToken,
  isInstallationToken,
} from '../http/credential.js';
import { badAnswer, instant, optionalId, readSource, type Source } from './fields.js';
import { readPermissions } from './permissions.js';

export function parseAppToken(body: string): AppAccessToken {
  const source = readSource(body, 'token');
  const token = tokenText(source);
  if (!isAppToken(token)) throw badToken();
  return { token, ...grant(source) };
}

export function parseInstallationToken(body: string): InstallationAccessToken {
  const source = readSource(body, 'token');
  const token = tokenText(source);
  if (!isInstallationToken(token)) throw badToken();
  return { token, ...grant(source) };
}

function tokenText(source: Source): string {
  const token = source.members['token'];
  return typeof token === 'string' ? token : '';
}

/** What came is not said: it might be a token after all. */
function badToken() {
  return badAnswer('token.token', 'printable text', 'something else');
}

function grant(source: Source) {
  return {
    expiresAt: instant(source, 'expiresAt') ?? '',
    permissions: readPermissions(source),
    installationId: optionalId(source, 'installationId'),
    organizationId: optionalId(source, 'organizationId'),
  };
}

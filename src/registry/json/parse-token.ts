import { type AccessToken, isCredential } from '../http/credential.js';
import { badAnswer, instant, optionalId, readSource } from './fields.js';
import { readPermissions } from './permissions.js';

/** What came is not said where it is no token: it might be one after all. */
export function parseToken<T extends string>(body: string): AccessToken<T> {
  const source = readSource(body, 'token');
  const { token } = source.members;
  if (typeof token !== 'string' || !isCredential<T>(token))
    throw badAnswer('token.token', 'printable text', 'something else');
  return {
    token,
    expiresAt: instant(source, 'expiresAt') ?? '',
    permissions: readPermissions(source),
    installationId: optionalId(source, ['installationId']),
    organizationId: optionalId(source, ['organizationId']),
  };
}

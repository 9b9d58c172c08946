import { type AccessToken, isCredential } from '../http/credential.js';
import { createBadAnswerError, getInstant, getOptionalId, parseObject } from './json-object.js';
import { parsePermissions } from './permissions.js';

/** Parses a response that contains a new access token. Error messages never quote the token, because it may be valid. */
export function parseAccessToken<T extends string>(body: string): AccessToken<T> {
  const object = parseObject(body, 'token');
  const { token } = object.members;
  if (typeof token !== 'string' || !isCredential<T>(token))
    throw createBadAnswerError('token.token', 'printable text', 'something else');
  return {
    token,
    expiresAt: getInstant(object, 'expiresAt') ?? '',
    permissions: parsePermissions(object),
    installationId: getOptionalId(object, ['installationId']),
    organizationId: getOptionalId(object, ['organizationId']),
  };
}

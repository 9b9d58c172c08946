import type { AccessToken } from '../model.js';

/**
 * Three kinds of credential that are all text. The brands exist for the compiler only:
 * a client that is handed the wrong kind does not compile.
 */
declare const kind: unique symbol;
export type AppJwt = string & { readonly [kind]: 'app jwt' };
export type AppToken = string & { readonly [kind]: 'app token' };
export type InstallationToken = string & { readonly [kind]: 'installation token' };
export type AnyAccessToken = AppToken | InstallationToken;

export interface AppAccessToken extends AccessToken {
  readonly token: AppToken;
}

export interface InstallationAccessToken extends AccessToken {
  readonly token: InstallationToken;
}

/**
 * Where a client gets its credential, asked before every call.
 * `fresh` says that the credential was made for this very call, so that a 403 is no reason to renew it.
 * `refuse` says that the registry would not take it: the next `get` must answer another one.
 */
export interface TokenSource<T extends string = string> {
  get(): Promise<{ readonly token: T; readonly fresh: boolean }>;
  refuse(token: T): void;
}

/** Credentials travel in a header: printable ASCII without spaces, and not without end. */
const CREDENTIAL = /^[\x21-\x7e]{1,8192}$/;

export function isCredential(text: string): boolean {
  return CREDENTIAL.test(text);
}

export function isAppJwt(text: string): text is AppJwt {
  return CREDENTIAL.test(text);
}

export function isAppToken(text: string): text is AppToken {
  return CREDENTIAL.test(text);
}

export function isInstallationToken(text: string): text is InstallationToken {
  return CREDENTIAL.test(text);
}

import type { Permissions } from '../model.js';

/**
 * The kinds of credential are all strings. The brands exist only for the compiler,
 * so that a client that is given the wrong kind does not compile.
 */
declare const kind: unique symbol;
export type AppJwt = string & { readonly [kind]: 'app jwt' };
export type AppToken = string & { readonly [kind]: 'app token' };
export type InstallationToken = string & { readonly [kind]: 'installation token' };
export type AnyAccessToken = AppToken | InstallationToken;

/** A valid access token. It stays in memory: it has no `document`, so that it cannot be stored by mistake. */
export interface AccessToken<T extends string> {
  readonly token: T;
  /** Empty if the registry does not send a readable time. */
  readonly expiresAt: string;
  /** Null if the answer does not contain them. */
  readonly permissions: Permissions | null;
  readonly installationId: string | null;
  readonly organizationId: string | null;
}

/** Provides the credential of a client, which asks for it before every attempt of a request. */
export interface TokenSource<T extends string = string> {
  /** `fresh` means that the token was made for this very call, so that a 403 is no reason to renew it. */
  get(): Promise<{ readonly token: T; readonly fresh: boolean }>;
  /** Reports that the registry refused a token. The next `get` must return another one. */
  refuse(token: T): void;
}

/** A credential is sent in a header: printable ASCII without spaces, of limited length. */
const CREDENTIAL = /^[\x21-\x7e]{1,8192}$/;

/** Whether a text can be sent as a credential. All kinds look the same, so the caller states which kind it is. */
export function isCredential<T extends string = string>(text: string): text is T {
  return CREDENTIAL.test(text);
}

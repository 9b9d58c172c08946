import type { Permissions } from '../model.js';

/**
 * Three kinds of credential that are all text. The brands exist for the compiler only:
 * a client that is handed the wrong kind does not compile.
 */
declare const kind: unique symbol;
export type AppJwt = string & { readonly [kind]: 'app jwt' };
export type AppToken = string & { readonly [kind]: 'app token' };
export type InstallationToken = string & { readonly [kind]: 'installation token' };
export type AnyAccessToken = AppToken | InstallationToken;

/** A live credential. It stays in memory; it has no `document`, so that it cannot be stored by accident. */
export interface AccessToken<T extends string> {
  readonly token: T;
  /** Empty where the registry does not say it in a way that can be read. */
  readonly expiresAt: string;
  /** Null where the answer does not say them. */
  readonly permissions: Permissions | null;
  readonly installationId: string | null;
  readonly organizationId: string | null;
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

/** All kinds look the same: whoever asks says which one it is. */
export function isCredential<T extends string = string>(text: string): text is T {
  return CREDENTIAL.test(text);
}

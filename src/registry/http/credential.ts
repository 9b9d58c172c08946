import type { Permissions } from '../object-models.js';

/**
 * The kinds of credential are all strings. The brands exist only for the compiler,
 * so that a client that is given the wrong kind does not compile.
 */
declare const credentialKind: unique symbol;
export type AppJwt = string & { readonly [credentialKind]: 'app jwt' };
export type AppToken = string & { readonly [credentialKind]: 'app token' };
export type InstallationToken = string & { readonly [credentialKind]: 'installation token' };
export type AnyAccessToken = AppToken | InstallationToken;

/** A valid access token. It is kept in memory only: it has no `document`, so it cannot be stored by mistake. */
export interface AccessToken<T extends string> {
  readonly token: T;
  /** Empty if the registry does not send a readable time. */
  readonly expiresAt: string;
  /** Null if the response does not contain them. */
  readonly permissions: Permissions | null;
  readonly installationId: string | null;
  readonly organizationId: string | null;
}

/** Provides the credential of a client. The client calls `get` before each attempt of a request. */
export interface TokenSource<T extends string = string> {
  /** Returns the credential to send. `fresh` means that the credential was created for this call. */
  get(): Promise<{ readonly token: T; readonly fresh: boolean }>;
  /** Discards a credential that the registry refused. The next `get` must return a different credential. */
  discard(token: T): void;
}

/** A credential is printable ASCII without spaces and of limited length, because it is sent in a header. */
const CREDENTIAL = /^[\x21-\x7e]{1,8192}$/;

/** Whether a text is printable ASCII without spaces, so that an HTTP header can carry it as a credential. */
export function isCredential<T extends string = string>(text: string): text is T {
  // All kinds of credential look alike, so the caller names the kind in `T`.
  return CREDENTIAL.test(text);
}

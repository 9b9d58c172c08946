/** API tokens. A token is shown once, when it is created. Only its SHA-256 is stored. */
import { createHash } from 'node:crypto';

/** Scopes of tokens: the lists, certificate files, the change log, and the state of all organizations. */
export const TOKEN_SCOPES = ['lists', 'certificates', 'changes', 'status'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** The rights of a token. */
export interface TokenGrant {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** The ids of the only organizations that may be read. Null allows all. */
  readonly organizationIds: readonly string[] | null;
  /** The names of the lists that may be read. */
  readonly lists: readonly string[];
}

/** A token as it is stored, without its secret. */
export interface StoredToken extends TokenGrant {
  readonly id: number;
  readonly createdAt: string;
  /** Null if the token was not revoked. */
  readonly revokedAt: string | null;
  /** Accurate to about a minute. Null if the token was never used. */
  readonly lastUsedAt: string | null;
}

/** Stores and finds API tokens. */
export interface TokenStore {
  /** Stores a token by its hash. Returns false if the name is in use, even by a revoked token. */
  readonly create: (grant: TokenGrant, sha256: string) => Promise<boolean>;
  /** Lists all tokens, including revoked ones, in the order of their creation. */
  readonly list: () => Promise<readonly StoredToken[]>;
  /** Revokes a token by its name. Returns false if no valid token has the name. */
  readonly revoke: (name: string) => Promise<boolean>;
  /** Finds a token by its hash. Returns null if it is unknown or revoked. */
  readonly find: (sha256: string) => Promise<StoredToken | null>;
  /** Sets the time of the last use to now. */
  readonly recordUse: (ids: readonly number[]) => Promise<void>;
}

const TOKEN_BYTES = 32;

/** The form of a token. The prefix lets secret scanners find tokens. */
export const TOKEN_PATTERN = /^cm_[A-Za-z0-9_-]{43}$/;
/** Finds a token in a longer text, such as a URL. */
export const TOKEN_IN_TEXT = /cm_[A-Za-z0-9_-]{43}/;

/** Creates a token from 256 random bits. They cannot be guessed, so a hash without a salt protects them. */
export function createToken(randomBytes: (size: number) => Buffer): string {
  return `cm_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

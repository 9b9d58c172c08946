import { buffer } from 'node:stream/consumers';
import type { RawCall } from '../../../registry/http/calls.js';
import { readSecretFile } from '../../../config/config.js';
import type { connect } from '../../place/connect.js';
import { CommandFault, EXIT } from '../../exit.js';
import type { Io } from '../../io.js';
import { findInstallation } from '../../named/live.js';

/** What a call is made with: a credential of the app's, or a token that somebody else has held too. */
export type Credential =
  | 'jwt'
  | 'app'
  | { readonly installation: string }
  /** The token itself: it stands in no command line, where others could read it. */
  | { readonly token: string };

export async function readCredential(
  io: Io,
  { as, tokenFile }: { readonly as?: string; readonly tokenFile?: string },
): Promise<Credential> {
  if (tokenFile !== undefined) return { token: await readToken(io, tokenFile) };
  if (as === undefined) {
    throw new CommandFault(
      EXIT.usage,
      'Expected the credential to send: --as jwt, app or installation:NAME, or --token-file FILE.',
    );
  }
  if (as === 'jwt' || as === 'app') return as;
  const [, installation] = /^installation:(.+)$/s.exec(as) ?? [];
  if (installation !== undefined) return { installation };
  throw new CommandFault(EXIT.usage, `--as: expected jwt, app or installation:NAME, got "${as}".`);
}

export async function tokenOf(
  client: Awaited<ReturnType<typeof connect>>,
  credential: Credential,
): Promise<RawCall['token']> {
  if (credential === 'jwt') return client.jwt;
  if (credential === 'app') return client.tokens.app();
  if ('token' in credential) return lent(credential.token);
  return client.tokens.installation((await findInstallation(client, credential.installation)).id);
}

/** Nobody can make another one of it. */
function lent(token: string): RawCall['token'] {
  return { get: async () => ({ token, fresh: true }), refuse: () => undefined };
}

const STDIN = '-';

async function readToken(io: Io, file: string): Promise<string> {
  const text = file === STDIN ? (await buffer(io.stdin)).toString('utf8') : readSecretFile(file);
  const token = text.trim();
  if (/^[\x21-\x7e]{1,16384}$/.test(token)) return token;
  throw new CommandFault(
    EXIT.usage,
    `--token-file: expected one token and nothing else in ${file === STDIN ? 'what was piped in' : file}.`,
  );
}

import { buffer } from 'node:stream/consumers';
import { readSecretFile } from '../../../app/config/config.js';
import type { RawCall } from '../../../registry/http/calls.js';
import type { Client } from '../../context.js';
import { usageFault } from '../../exit.js';
import type { Io } from '../../io.js';
import { findInstallation } from '../../find/at-registry.js';

type Token = RawCall['token'];

interface Given {
  readonly as: string | undefined;
  readonly tokenFile: string | undefined;
}

/** What a call is made with: a credential of the app's, or a token that somebody else has held too. */
export async function readCredential(
  io: Io,
  { as, tokenFile }: Given,
): Promise<(client: Client) => Token | Promise<Token>> {
  if (tokenFile !== undefined) {
    const token = await readToken(io, tokenFile);
    return () => ({ get: async () => ({ token, fresh: true }), refuse: () => undefined });
  }
  if (as === 'jwt') return client => client.jwt;
  if (as === 'app') return client => client.tokens.app();
  const [, named] = /^installation:(.+)$/s.exec(as ?? '') ?? [];
  if (named !== undefined)
    return async client => client.tokens.installation((await findInstallation(client, named)).id);
  throw usageFault(
    as === undefined
      ? 'Expected the credential to send: --as jwt, app or installation:NAME, or --token-file FILE.'
      : `--as: expected jwt, app or installation:NAME, got "${as}".`,
  );
}

/** The token itself stands in no command line, where others could read it. */
async function readToken(io: Io, file: string): Promise<string> {
  const isPiped = file === '-';
  const token = (isPiped ? (await buffer(io.stdin)).toString('utf8') : readSecretFile(file)).trim();
  if (/^[\x21-\x7e]{1,16384}$/.test(token)) return token;
  throw usageFault(
    `--token-file: expected one token and nothing else in ${isPiped ? 'what was piped in' : file}.`,
  );
}

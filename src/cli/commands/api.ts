import { createWriteStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { RegistryError } from '../../registry/errors.js';
import type { RawCall, StreamedAnswer } from '../../registry/http/calls.js';
import { escapeJson } from '../clean.js';
import { command } from '../command.js';
import { confirm } from '../confirm.js';
import type { Client, Context } from '../context.js';
import { usageFault } from '../exit.js';
import { emit, type Io } from '../io.js';
import { asWhole } from '../output/into-file.js';
import { needed, text, valued, YES } from '../taken.js';
import { readSecretFile } from '../../app/config/config.js';
import { findInstallation } from '../find/at-registry.js';

const METHODS = ['GET', 'POST', 'DELETE'] as const;

export const API = command({
  says: "Make one call of the registry by its path, with the app's credentials",
  words: {
    method: needed(valued('method', METHODS.join(', '), readMethod)),
    path: needed(text('path', 'as in /projects?limit=10&page=0')),
  },
  options: {
    as: text('who', 'jwt, app or installation:NAME: the credential to send'),
    tokenFile: {
      ...text(
        'file',
        'send the token in this file, or from standard input with -; this is how to revoke a token that leaked',
      ),
      conflicts: ['as'],
    },
    data: valued('json', 'the body', readJson),
    output: text('file', 'write the answer into a file instead'),
    yes: { ...YES, says: 'do it without a question, where it writes' },
  },
  prints: { json: 'print the status beside the answer, as JSON' },
  examples: [
    'carbon-mirror api GET "/app/installations?limit=10&page=0" --as jwt',
    'carbon-mirror api GET /organizations/ID/members --as installation:ID',
    'carbon-mirror api DELETE /app/installations/token --token-file leaked.txt --yes',
    'carbon-mirror api GET /retirements/ID/pdf --as app --output certificate.pdf',
    `carbon-mirror api POST /organizations/ID/warehouse/inventory/reservations --as installation:ID --data '{"creditId":"ID","amount":1}' --yes`,
  ],
  run: async (context, { method, path, data, output, yes, ...credential }) => {
    const tokenOf = await readCredential(context.io, credential);
    const client = await context.client();
    const isWrite = method !== 'GET' || /\/friendbot\/?(\?|$)/i.test(path);
    if (isWrite) await confirm(context.io, `${method} ${path} at ${client.http.baseUrl}.`, { yes });
    const call = {
      method,
      path,
      token: await tokenOf(client),
      ...(data !== undefined && { body: data }),
      ...(/\/pdf(\?|$)/.test(path) && { accept: 'application/octet-stream' }),
    };
    try {
      const answer = await client.http.raw(call);
      await (output === undefined ? deliver(context, answer) : save(context, answer, output));
    } catch (error) {
      throw withPath(error, method, path);
    }
  },
});

function readMethod(typed: string) {
  const method = METHODS.find(known => known === typed.toUpperCase());
  if (method !== undefined) return method;
  throw usageFault(`Expected a method of ${METHODS.join(', ')}, got "${typed}".`);
}

function readJson(typed: string): string {
  if (isJson(typed)) return typed;
  throw usageFault('--data: expected JSON.');
}

async function deliver({ io, format }: Context, { status, body: stream }: StreamedAnswer): Promise<void> {
  const body = await buffer(stream);
  const answer = body.toString('utf8');
  /** The digits stay as they came; what is no JSON becomes a text. */
  if (format === 'json')
    return await emit(
      io,
      `{"status":${status},"body":${isJson(answer) ? answer : JSON.stringify(answer)}}\n`,
    );
  if (io.terminal.stdout && !isText(body)) {
    throw usageFault('The answer is not text.', 'Write it into a file with --output FILE.');
  }
  if (io.terminal.stdout && isJson(answer)) return await emit(io, `${escapeJson(indent(answer))}\n`);
  io.stdout.write(body);
  return isJson(answer) ? await emit(io, '\n') : undefined;
}

/** A file of that name is whole, or as it was before. */
async function save(context: Context, { status, body }: StreamedAnswer, file: string): Promise<void> {
  await asWhole(file, part => pipeline(Readable.from(body), createWriteStream(part, { mode: 0o600 })));
  const bytes = statSync(file).size;
  if (context.format === 'json') await context.value({ status, file, bytes });
  context.say(`${status}: ${bytes} bytes in ${file}.`);
}

/** A PDF may hold no zero byte. */
function isText(body: Buffer): boolean {
  return !body.includes(0) && !body.subarray(0, 5).equals(Buffer.from('%PDF-'));
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\s+|([[{])\s*([\]}])|[[\]{},:]/g;

/** The same JSON in lines, every digit as it came. */
function indent(json: string): string {
  let depth = 0;
  const line = (deeper: number) => `\n${'  '.repeat((depth += deeper))}`;
  return json.replace(TOKEN, (token: string, opens?: string, closes?: string) => {
    if (opens !== undefined) return `${opens}${closes}`;
    if (token === '[' || token === '{') return `${token}${line(1)}`;
    if (token === ']' || token === '}') return `${line(-1)}${token}`;
    if (token === ',') return `,${line(0)}`;
    return token === ':' ? ': ' : token.trimStart();
  });
}

function isJson(given: string): boolean {
  try {
    JSON.parse(given);
    return true;
  } catch {
    return false;
  }
}

/** The client knows calls by their routes; here the path itself tells what was asked, and what it needs. */
function withPath(error: unknown, method: string, path: string): unknown {
  if (!(error instanceof RegistryError)) return error;
  const call = `${method} ${path}`;
  const { code, message, status, retryAfterMs, registryMessage, mayHaveHappened, candidates, answer, cause } =
    error;
  const details = { status, retryAfterMs, registryMessage, mayHaveHappened, candidates, answer, cause };
  return new RegistryError(code, message.replace(`${method} raw`, call), { ...details, call });
}

type Token = RawCall['token'];

interface Given {
  readonly as: string | undefined;
  readonly tokenFile: string | undefined;
}

/** What a call is made with: a credential of the app's, or a token that somebody else has held too. */
async function readCredential(
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

import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Argument, type Command, Option } from 'commander';
import type { RawCall, StreamedAnswer } from '../../../registry/http/calls.js';
import { RegistryError } from '../../../registry/errors.js';
import { escapeJson } from '../../clean.js';
import { examples } from '../../command.js';
import { confirm } from '../../confirm.js';
import { connect } from '../../place/connect.js';
import { CommandFault, EXIT } from '../../exit.js';
import { emit, type Io, say } from '../../io.js';
import { writeValue } from '../../output/output.js';
import { readCredential, tokenOf } from './credential.js';
import { findSettings } from '../../place/find-place.js';

interface ApiOptions {
  readonly as?: string;
  readonly tokenFile?: string;
  readonly data?: string;
  readonly output?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const METHODS = ['GET', 'POST', 'DELETE'] as const;
type Method = (typeof METHODS)[number];

export function define(program: Command, io: Io): void {
  const command = program
    .command('api')
    .description("Make one call of the registry by its path, with the app's credentials")
    .addArgument(new Argument('<method>', METHODS.join(', ')).argParser(readMethod))
    .argument('<path>', 'as in /projects?limit=10&page=0')
    .option('--as <who>', 'jwt, app or installation:NAME: the credential to send')
    .addOption(
      new Option(
        '--token-file <file>',
        'send the token that stands in this file, - for what is piped in: to revoke one that leaked',
      ).conflicts('as'),
    )
    .option('--data <json>', 'the body')
    .option('--output <file>', 'write the answer into a file instead')
    .option('--yes', 'do it without a question, where it writes')
    .option('--json', 'print the status beside the answer, as JSON')
    .action((method: Method, path: string, options: ApiOptions) => callApi(io, method, path, options));
  examples(command, [
    'carbon-mirror api GET "/app/installations?limit=10&page=0" --as jwt',
    'carbon-mirror api GET /organizations/ID/members --as installation:ID',
    'carbon-mirror api DELETE /app/installations/token --token-file leaked.txt --yes',
    'carbon-mirror api GET /retirements/ID/pdf --as app --output certificate.pdf',
    `carbon-mirror api POST /organizations/ID/warehouse/inventory/reservations --as installation:ID --data '{"creditId":"ID","amount":1}' --yes`,
  ]);
}

function readMethod(text: string): Method {
  const method = METHODS.find(known => known === text.toUpperCase());
  if (method !== undefined) return method;
  throw new CommandFault(EXIT.usage, `Expected a method of ${METHODS.join(', ')}, got "${text}".`);
}

async function callApi(io: Io, method: Method, path: string, options: ApiOptions): Promise<void> {
  if (options.data !== undefined && !isJson(options.data)) {
    throw new CommandFault(EXIT.usage, '--data: expected JSON.');
  }
  const credential = await readCredential(io, options);
  const client = await connect(findSettings(io), io);
  const isWrite = method !== 'GET' || /\/friendbot\/?(\?|$)/i.test(path);
  if (isWrite) await confirm(io, `${method} ${path} at ${client.http.baseUrl}.`, options);
  const call: RawCall = {
    method,
    path,
    token: await tokenOf(client, credential),
    ...(options.data !== undefined && { body: options.data }),
    ...(/\/pdf(\?|$)/.test(path) && { accept: 'application/octet-stream' }),
  };
  try {
    await deliver(io, await client.http.raw(call), options);
  } catch (error) {
    throw named(error, method, path);
  }
}

async function deliver(io: Io, answer: StreamedAnswer, options: ApiOptions): Promise<void> {
  const { status } = answer;
  if (options.output !== undefined) {
    const bytes = await save(answer, options.output);
    if (options.json) await writeValue(io, { status, file: options.output, bytes });
    say(io, `${status}: ${bytes} bytes in ${options.output}.`);
    return;
  }
  const body = await gather(answer);
  if (options.json) {
    await emit(io, `{"status":${status},"body":${asJson(body)}}\n`);
    return;
  }
  if (io.terminal.stdout && !isText(body)) {
    throw new CommandFault(EXIT.usage, 'The answer is no text.', 'Write it into a file with --output FILE.');
  }
  const text = body.toString('utf8');
  if (io.terminal.stdout && isJson(text)) return await emit(io, `${escapeJson(indent(text))}\n`);
  io.stdout.write(body);
  if (isJson(text)) await emit(io, '\n');
  return undefined;
}

/** The digits stay as they came; what is no JSON becomes a text. */
function asJson(body: Buffer): string {
  const text = body.toString('utf8');
  return isJson(text) ? text : JSON.stringify(text);
}

/** A PDF may hold no zero byte. */
function isText(body: Buffer): boolean {
  return !body.includes(0) && !body.subarray(0, 5).equals(Buffer.from('%PDF-'));
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/** The same JSON in lines, every digit as it came. */
function indent(json: string): string {
  let depth = 0;
  let before = '';
  let text = '';
  for (const [token] of json.matchAll(TOKEN)) {
    const closes = token === ']' || token === '}';
    if (closes) depth -= 1;
    const opened = before === '[' || before === '{';
    if (closes ? !opened : opened || before === ',') text += `\n${'  '.repeat(depth)}`;
    text += token === ':' ? ': ' : token;
    if (token === '[' || token === '{') depth += 1;
    before = token;
  }
  return text;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A file of that name is whole, or as it was before. */
async function save(answer: StreamedAnswer, file: string): Promise<number> {
  const part = `${file}.part`;
  let bytes = 0;
  async function* counted() {
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  try {
    await pipeline(Readable.from(counted()), createWriteStream(part, { mode: 0o600 }));
    renameSync(part, file);
    return bytes;
  } catch (error) {
    rmSync(part, { force: true });
    throw unwritable(error, file);
  }
}

function unwritable(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  return new CommandFault(EXIT.usage, `${file} cannot be written (${String(error.code)}).`);
}

async function gather(answer: StreamedAnswer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The client knows calls by their routes; here the path itself tells what was asked, and what it needs. */
function named(error: unknown, method: Method, path: string): unknown {
  if (!(error instanceof RegistryError)) return error;
  const call = `${method} ${path}`;
  const message = error.message.replace(`${method} raw`, call);
  const { status, retryAfterMs, registryMessage, mayHaveHappened, candidates, answer, cause } = error;
  const details = { status, retryAfterMs, registryMessage, mayHaveHappened, candidates, answer, cause };
  return new RegistryError(error.code, message, { ...details, call });
}

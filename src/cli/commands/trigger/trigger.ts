import { randomUUID } from 'node:crypto';
import { Argument, type Command, Option } from 'commander';
import { readSettings } from '../../../config/config.js';
import { EVENTS, type EventName, isId } from '../../../registry/model.js';
import type { Reader } from '../../../engines/contract/reader.js';
import { signDelivery } from '../../../webhook/signature.js';
import { examples } from '../../command.js';
import { CommandFault, EXIT } from '../../exit.js';
import { type Io, print, say } from '../../io.js';
import { HOW_NAMED } from '../../named/how-named.js';
import { installationIn, organizationIn } from '../../named/in-mirror.js';
import { writeValue } from '../../output/output.js';
import { findSettings } from '../../place/find-place.js';
import { reading, type Place } from '../../place/place.js';
import { createPayload, findSubject, sealPayload, type Subject, type Wanted } from './payload.js';
import { readId, readNumber } from '../../words.js';

interface TriggerOptions {
  readonly organization: string;
  readonly installation?: string;
  readonly url?: string;
  readonly times: string;
  readonly secretIndex: string;
  readonly badSignature?: boolean;
  readonly json?: boolean;
}

const ACCEPTED = 202;
const UNAUTHORIZED = 401;
const ANSWER_WITHIN_MS = 20_000;
const MOST_TIMES = 100_000;

export function define(program: Command, io: Io): void {
  const command = program
    .command('trigger')
    .description('Sign and post a delivery as the registry would, to the receiver')
    .addArgument(new Argument('<event>', 'what it says has happened').choices(EVENTS))
    .requiredOption('--organization <name>', `the organization that it is about: ${HOW_NAMED}`)
    .option('--installation <id>', "the installation, where the mirror's own is not meant or not there yet")
    .option('--url <url>', 'the whole address to post to (default: /webhooks at HOST and PORT)')
    .option('--times <n>', 'post it so many times, one after the other', '1')
    .option('--secret-index <n>', 'sign with this one of WEBHOOK_SECRETS; 0 is the newest', '0')
    .addOption(
      new Option('--bad-signature', 'sign it with a made-up secret: it must be refused').conflicts(
        'secretIndex',
      ),
    )
    .option('--json', 'print the answers as JSON')
    .action((event: EventName, options: TriggerOptions) => trigger(io, event, options));
  examples(command, [
    'carbon-mirror trigger warehouseTransaction --organization ID',
    'carbon-mirror trigger suspended --organization ID --times 50',
    'carbon-mirror trigger installed --organization ID --bad-signature',
    'carbon-mirror trigger installed --organization ID --installation ID --url http://127.0.0.1:3000/webhooks',
  ]);
}

async function trigger(io: Io, event: EventName, options: TriggerOptions): Promise<void> {
  const times = readTimes(options.times);
  const place = findSettings(io);
  const settings = await readSettings(place.env, 'receive');
  const isBad = options.badSignature === true;
  const secret = isBad ? randomUUID() : pickSecret(settings.webhookSecrets, options.secretIndex);
  const subject = await readSubject(place, event, options);
  const { body, signedData } = sealPayload(createPayload(event, subject, settings.appId, io.now()));
  const url = readUrl(options.url, settings.host, settings.port);
  const headers = {
    'content-type': 'application/json',
    [`x-${settings.headerPrefix}-signature-256`]: signDelivery(signedData, secret),
  };
  const answers: number[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await post(url, headers, body));
  const told = { event, installation: subject.installationId, url, answers };
  await printAnswers(io, told, options.json === true);
  const door = options.url === undefined ? OURS : ELSEWHERE;
  if (isBad) checkRefused(io, door, answers);
  else checkStored(io, door, answers);
}

/** How whoever was posted to says that it took a delivery or not, and what is known of it then. */
interface Door {
  readonly takes: (status: number) => boolean;
  readonly refuses: (status: number) => boolean;
  readonly expected: { readonly taken: string; readonly refused: string };
  readonly stored: string;
  readonly refused: string;
  readonly advice: Readonly<Record<number, string>>;
}

const LOG = "See the receiver's log.";
const OTHER_SECRET = 'The receiver knows another secret: compare WEBHOOK_SECRETS here and there.';
const OURS: Door = {
  takes: status => status === ACCEPTED,
  refuses: status => status === UNAUTHORIZED,
  expected: { taken: String(ACCEPTED), refused: String(UNAUTHORIZED) },
  stored: 'It is stored. "carbon-mirror deliveries list" says what became of it.',
  refused: 'It was refused, as it must be. "carbon-mirror deliveries list --refused" counts it.',
  advice: {
    [UNAUTHORIZED]: OTHER_SECRET,
    404: 'The receiver listens at /webhooks: give the whole address with --url.',
    503: "The receiver could not store it: see its log, the disk and who holds inbox.db's lock.",
  },
};
/** What another receiver does with it is not for us to say. */
const ELSEWHERE: Door = {
  takes: status => status >= 200 && status < 300,
  refuses: status => status >= 400 && status < 500,
  expected: { taken: 'from 200 to 299', refused: 'from 400 to 499' },
  stored: 'It was accepted there.',
  refused: 'It was refused there, as it must be.',
  advice: {
    [UNAUTHORIZED]: OTHER_SECRET,
    404: 'Nothing takes it there: give the whole address with --url.',
  },
};

interface Report {
  readonly event: string;
  readonly installation: string;
  readonly url: string;
  readonly answers: readonly number[];
}

async function printAnswers(io: Io, told: Report, json: boolean): Promise<void> {
  const { event, installation, url, answers } = told;
  if (json) await writeValue(io, { ...told, answers: countAnswers(answers) });
  else await print(io, `${describeAnswers(answers)}  ${event} of installation ${installation} to ${url}`);
}

function checkStored(io: Io, door: Door, answers: readonly number[]): void {
  const refused = answers.filter(status => !door.takes(status));
  if (refused.length === 0) {
    say(io, door.stored);
    return;
  }
  const last = refused.at(-1) ?? 0;
  throw new CommandFault(
    EXIT.checkFailed,
    `${refused.length} of ${answers.length} deliveries were answered ${last}, not ${door.expected.taken}.`,
    door.advice[last] ?? LOG,
  );
}

/** What nobody has signed must not be stored. */
function checkRefused(io: Io, door: Door, answers: readonly number[]): void {
  const others = answers.filter(status => !door.refuses(status));
  if (others.length === 0) {
    say(io, door.refused);
    return;
  }
  const last = others.at(-1) ?? 0;
  throw new CommandFault(
    EXIT.checkFailed,
    `${others.length} of ${answers.length} forged deliveries were answered ${last}, not ${door.expected.refused}.`,
    others.some(door.takes)
      ? 'Whatever answers there does not check signatures.'
      : (door.advice[last] ?? LOG),
  );
}

function countAnswers(answers: readonly number[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const status of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function describeAnswers(answers: readonly number[]): string {
  return Object.entries(countAnswers(answers))
    .map(([status, count]) => (answers.length === 1 ? status : `${count} x ${status}`))
    .join(', ');
}

async function post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const isSilent = error instanceof Error && error.name === 'TimeoutError';
    throw new CommandFault(
      EXIT.unreachable,
      isSilent
        ? `${url} gave no answer within ${ANSWER_WITHIN_MS / 1000} s.`
        : `No receiver answers at ${url}.`,
      'Start "carbon-mirror up" or "carbon-mirror receive", or say where it listens with PORT or --url.',
    );
  }
}

/** With --installation both may be new to the mirror: then they are ids, and taken as they are. */
async function readSubject(place: Place, event: EventName, options: TriggerOptions): Promise<Subject> {
  const { organization, installation } = options;
  if (place.engine.findMissing() === null)
    return await findInMirror(place, event, { organization, installation });
  const organizationId = readId('--organization', organization);
  if (installation === undefined) throw noInstallation(organizationId);
  const installationId = readId('--installation', installation);
  return { organizationId, installationId, document: null, creditId: null };
}

async function findInMirror(place: Place, event: EventName, named: Named): Promise<Subject> {
  return await reading(place, async reader => {
    const wanted = await readWanted(reader, named);
    const subject = await findSubject(reader, event, wanted);
    if (subject === null) throw noInstallation(wanted.organizationId);
    return subject;
  });
}

interface Named {
  readonly organization: string;
  readonly installation: string | undefined;
}

async function readWanted(reader: Reader, { organization, installation }: Named): Promise<Wanted> {
  if (installation === undefined) {
    return { organizationId: await organizationIn(reader, organization), installationId: null };
  }
  return {
    organizationId: await orAsItIs(organization, organizationIn(reader, organization)),
    installationId: await orAsItIs(installation, installationIn(reader, installation)),
  };
}

async function orAsItIs(text: string, found: Promise<string>): Promise<string> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof CommandFault && error.exitCode === EXIT.notThere && isId(text)) return text;
    throw error;
  }
}

function noInstallation(organizationId: string): CommandFault {
  return new CommandFault(
    EXIT.notThere,
    `The mirror knows no installation on the organization ${organizationId}.`,
    'Name one with --installation: see "carbon-mirror api GET /app/installations --as jwt".',
  );
}

function readTimes(text: string): number {
  const times = readNumber('posts', text);
  if (times >= 1 && times <= MOST_TIMES) return times;
  throw new CommandFault(EXIT.usage, `--times: expected from 1 to ${MOST_TIMES}, got "${text}".`);
}

function pickSecret(secrets: readonly string[], index: string): string {
  const secret = secrets[readNumber('a secret', index)];
  if (secret !== undefined) return secret;
  throw new CommandFault(
    EXIT.usage,
    `--secret-index: WEBHOOK_SECRETS holds ${secrets.length}, counted from 0.`,
  );
}

function readUrl(said: string | undefined, host: string, port: number): string {
  const url = said ?? `http://${reachable(host)}:${port}/webhooks`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new CommandFault(
    EXIT.usage,
    `--url: expected an address such as http://127.0.0.1:8080/webhooks, got "${url}".`,
  );
}

/** The address on which one that listens everywhere is reached from here. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

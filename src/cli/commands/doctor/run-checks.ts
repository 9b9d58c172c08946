import { hasDatabaseUrl } from '../../../app/config/database.js';
import type { WorkSettings } from '../../../app/config/settings.js';
import { fail, type Finding, ok, warn } from '../../../store/contract/finding.js';
import { readStatus } from '../../../query/status.js';
import { readProcesses } from '../../../query/inbox/activity.js';
import { CommandError } from '../../exit.js';
import type { CommandContext } from '../../context.js';
import { checkSealing } from '../../evidence-log.js';
import { describeDatabaseDamage, createSecretMask } from '../../errors/explain-error.js';
import { findExposures } from '../../exposures.js';
import { checkOlderCopies } from '../../older-copies.js';
import { formatReceiverUrl } from '../../loopback.js';
import { MIRROR_CHECKS } from './mirror-checks.js';
import { describeDemoCreation, isDemoBeingCreated } from '../demo/sandbox.js';
import { checkRegistry } from './registry-checks.js';
import { createHash, createPublicKey } from 'node:crypto';
import { readPrivateKey } from '../../../registry/auth/private-key.js';
import type { Environment } from '../../../app/config/setting.js';
import { readSettings } from '../../../app/config/config.js';
import { SettingsError } from '../../../app/config/settings-error.js';
import { once } from 'node:events';
import { request } from 'node:http';
import { fingerprintProcess, RECEIVER_FINGERPRINT_HEADER } from '../../../app/heartbeats.js';

/** What is in order and what is not, and what to do about it: without a secret, wherever one stands. */
export async function runDoctorChecks(context: CommandContext): Promise<Finding[]> {
  const hide = createSecretMask(context.findMirror().env);
  const all: Finding[] = [];
  for await (const each of runChecks(context))
    all.push({ ...each, found: hide(each.found), todo: each.todo && hide(each.todo) });
  return all;
}

/** A platform's own name for a database says nothing of whose it is. */
const FOREIGN = 'DATABASE_URL names a PostgreSQL that is not used, because it may belong to another program';
const TO_USE_IT = 'To store the mirror there: MIRROR_DATABASE_URL="$DATABASE_URL" carbon-mirror up';

async function* runChecks(context: CommandContext): AsyncGenerator<Finding> {
  const { isDemo: demo, engine, env } = context.findMirror();
  if (await isDemoBeingCreated(context.findMirror())) {
    yield warn('mirror', describeDemoCreation(context.findMirror()), 'Try again in a moment.');
    return;
  }
  const real = engine.findMissing() === null ? 'a real mirror' : 'the settings expect a real mirror';
  yield ok('mirror', demo ? `the demo in ${engine.location}: made-up data` : `${real} in ${engine.location}`);
  if (/^postgres(ql)?:/.test(env['DATABASE_URL'] ?? '') && !hasDatabaseUrl(env))
    yield { ...ok('mirror', FOREIGN), todo: TO_USE_IT };
  const work = yield* checkSettings(env);
  yield* findExposures({ env, secretFiles: context.io.secretFiles });
  yield* checkOlderCopies(await engine.findOlderCopies());
  const receivers = yield* checkStore(context, work);
  if (work === null)
    yield fail('registry', 'not checked: the settings are incomplete', 'See the settings above.');
  else yield* checkRegistry(work, context.io);
  yield await checkReceiver(env, receivers);
}

/** What can be seen without asking anybody. Answers which receivers store there, as far as that can be read. */
async function* checkStore(
  { io, requireMirror: location, openReader: open }: CommandContext,
  work: WorkSettings | null,
): AsyncGenerator<Finding, Receivers> {
  try {
    yield* location().engine.examine();
    const [now, reader] = [io.now(), await open()];
    const status = await readStatus(reader, now);
    for (const check of Object.values(MIRROR_CHECKS))
      yield* [await check({ reader, now, status, work })].flat();
    yield* await checkSealing({ io, requireMirror: location });
    return await readProcesses(reader, 'receive');
  } catch (error) {
    yield describeUnreadable(error);
    return [];
  }
}

const CURES: Readonly<Record<string, string>> = {
  earlier: 'Everything except history and deliveries can be read again from the registry.',
  away: 'Check that the server in MIRROR_DATABASE_URL is running and reachable from this machine.',
  refused: 'Check the user in MIRROR_DATABASE_URL and its rights.',
  missing: 'Create it, or set MIRROR_DATABASE_URL to another one.',
};

function describeUnreadable(error: unknown): Finding {
  const words = error instanceof CommandError ? error.lines : describeDatabaseDamage(error);
  const [found = error instanceof Error ? error.message : String(error), ...advice] = words ?? [];
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const todo = advice.join(' ') || CURES[code] || 'Run "carbon-mirror migrate", or restore a backup.';
  return fail('databases', found, todo);
}

const ON_OLD_SECRETS =
  'Remove the older ones once no delivery is signed with them (deliveries.secret_index).';

/** Answers those of a worker; null where they are not complete. */
async function* checkSettings(env: Environment): AsyncGenerator<Finding, WorkSettings | null> {
  const faults = new Map<string, Finding>();
  const add = (error: unknown) => {
    if (!(error instanceof SettingsError)) throw error;
    for (const { name, expected, problem: came } of error.faults)
      faults.set(name, fail('settings', `${name}: ${came}`, `${name}: expected ${expected}.`));
    return null;
  };
  const receive = await readSettings(env, 'receive').catch(add);
  const work = await readSettings(env, 'work').catch(add);
  if (faults.size === 0) yield ok('settings', 'complete for receiver and worker');
  yield* faults.values();
  if (work !== null) yield checkKey(work.privateKey);
  const secrets = receive?.webhookSecrets.length ?? 0;
  if (secrets === 1) yield ok('secret', 'one webhook secret, long enough');
  if (secrets > 1) yield warn('secret', `${secrets} webhook secrets are accepted`, ON_OLD_SECRETS);
  return work;
}

/** The fingerprint is that of the public half, which the registry shows too. */
function checkKey(pem: string): Finding {
  const key = readPrivateKey(pem);
  const open = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const fingerprint = createHash('sha256').update(open).digest('base64');
  return ok(
    'key',
    `RSA, ${key.asymmetricKeyDetails?.modulusLength} bits; SHA-256 of its public key: ${fingerprint}`,
  );
}

type Receivers = Awaited<ReturnType<typeof readProcesses>>;

const ANSWER_WITHIN_MS = 3000;

/** Of all that answer there, ours are those that store where this mirror is. The receiver refuses a GET, and says thereby that it is there, and which one it is. */
async function checkReceiver(env: Environment, ours: Receivers): Promise<Finding> {
  const where = formatReceiverUrl(env['HOST'] || '127.0.0.1', env['PORT'] || '8080');
  const answer = await ask(where);
  const marks = ours.map(each => fingerprintProcess({ ...each, startedAt: Date.parse(each.started_at) }));
  if (marks.includes(answer?.mark ?? '')) return ok('receiver', `${where} accepts webhooks`);
  const todo = 'Start "carbon-mirror receive" (or "up"), or set HOST and PORT to where it listens.';
  return fail('receiver', describeStranger(where, answer), todo);
}

function describeStranger(where: string, answer: Awaited<ReturnType<typeof ask>>): string {
  if (answer === null) return `nothing answers at ${where}`;
  if (answer.mark === '') return `another program answers at ${where} with status ${answer.status}`;
  return `the receiver of another mirror answers at ${where}: its deliveries are not stored here`;
}

/** What answers there, with the mark that only receivers have; null where nobody does. */
async function ask(url: string) {
  try {
    const asked = request(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), agent: false });
    asked.end();
    const [response] = await once(asked, 'response');
    response.resume();
    return {
      status: Number(response.statusCode),
      mark: String(response.headers[RECEIVER_FINGERPRINT_HEADER] ?? ''),
    };
  } catch {
    return null;
  }
}

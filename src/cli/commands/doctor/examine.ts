import { namesDatabase } from '../../../app/config/database.js';
import type { WorkSettings } from '../../../app/config/settings.js';
import { type Finding, fail, ok } from '../../../store/contract/finding.js';
import { readHealth } from '../../../query/inbox/health.js';
import { countAlive, readProcesses } from '../../../query/inbox/heartbeats.js';
import { hideSecrets } from '../../exit.js';
import type { Context } from '../../context.js';
import { CommandFault } from '../../exit.js';
import { checkSealing } from '../../sealed.js';
import { describeDamage } from '../../faults/damage.js';
import { findExposures } from '../../faults/exposures.js';
import { MIRROR_CHECKS } from './mirror.js';
import { checkReceiver, type Receivers } from './receiver.js';
import { checkRegistry } from './registry.js';
import { checkSettings } from './settings.js';

/** What is in order and what is not, and what to do about it: without a secret, wherever one stands. */
export async function examine(context: Context): Promise<Finding[]> {
  const hide = hideSecrets(context.settings().env);
  const all: Finding[] = [];
  for await (const each of look(context))
    all.push({ ...each, found: hide(each.found), todo: each.todo && hide(each.todo) });
  return all;
}

/** A platform's own name for a database says nothing of whose it is. */
const FOREIGN = "DATABASE_URL names a PostgreSQL that is not used: it may be somebody else's";
const TO_USE_IT = 'To keep the mirror there: MIRROR_DATABASE_URL="$DATABASE_URL" carbon-mirror up';

async function* look(context: Context): AsyncGenerator<Finding> {
  const { demo, engine, env } = context.settings();
  yield ok(
    'mirror',
    demo ? `the demo in ${engine.location}: made-up data` : `a real mirror in ${engine.location}`,
  );
  if (/^postgres(ql)?:/.test(env['DATABASE_URL'] ?? '') && !namesDatabase(env))
    yield { ...ok('mirror', FOREIGN), todo: TO_USE_IT };
  const work = yield* checkSettings(env);
  yield* findExposures({ env, secretFiles: context.io.secretFiles });
  const receivers = yield* checkStore(context, work);
  if (work === null) yield fail('registry', 'not asked: the settings are not complete', 'See above.');
  else yield* checkRegistry(work, context.io);
  yield await checkReceiver(env, receivers);
}

/** What can be seen without asking anybody. Answers which receivers store there, as far as that can be read. */
async function* checkStore(
  { io, location, reader: open }: Context,
  work: WorkSettings | null,
): AsyncGenerator<Finding, Receivers> {
  try {
    yield* location().engine.examine();
    const [now, reader] = [io.now(), await open()];
    const health = await readHealth(reader, now);
    const workers = Math.max(1, await countAlive(reader, 'work', now));
    const rate = work === null ? null : Number((workers * work.requestsPerSecond).toFixed(3));
    for (const check of Object.values(MIRROR_CHECKS))
      yield* [await check({ reader, now, health, work, rate })].flat();
    yield* checkSealing({ io, location });
    return await readProcesses(reader, 'receive');
  } catch (error) {
    yield describeUnreadable(error);
    return [];
  }
}

const CURES: Readonly<Record<string, string>> = {
  earlier: 'All but history and deliveries is read anew from the registry.',
  away: 'Is the server that MIRROR_DATABASE_URL names up, and does this machine reach it?',
  refused: 'See who is named in MIRROR_DATABASE_URL, and what they may do.',
  missing: 'Make it, or name another in MIRROR_DATABASE_URL.',
};

function describeUnreadable(error: unknown): Finding {
  const words = error instanceof CommandFault ? error.lines : describeDamage(error);
  const [found = String(error), ...advice] = words ?? [];
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const todo = advice.join(' ') || CURES[code] || 'See "carbon-mirror migrate", or restore a backup.';
  return fail('databases', found, todo);
}

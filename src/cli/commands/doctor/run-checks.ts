import { existsSync } from 'node:fs';
import { hasDatabaseUrl } from '../../../app/config/database-settings.js';
import type { WorkSettings } from '../../../app/config/settings-table.js';
import { readProcesses } from '../../../query/inbox/activity.js';
import { readStatus } from '../../../query/status.js';
import { fail, type Finding, ok, warn } from '../../../store/contract/finding.js';
import type { CommandContext, MirrorContext } from '../../context.js';
import { createSecretMask, describeDatabaseDamage } from '../../errors/explain-error.js';
import { checkEvidenceSealing } from '../../evidence/evidence-checks.js';
import { checkSubscriptions } from '../../subscriptions/subscription-checks.js';
import { CommandError } from '../../command-error.js';
import { findExposures } from '../../exposures.js';
import { checkOlderCopies } from '../../older-copies.js';
import { describeDemoCreation, isDemoBeingCreated } from '../demo/demo-sandbox.js';
import { getDemoSettingsFile } from '../demo/demo-settings.js';
import { MIRROR_CHECKS } from './mirror-checks.js';
import { checkReceiver, type ReceiverProcesses } from './receiver-check.js';
import { checkRegistry } from './registry-checks.js';
import { checkSettings } from './settings-checks.js';

/** Runs all checks of `doctor` and returns the findings. Masks all secrets in the findings. */
export async function runDoctorChecks(context: CommandContext): Promise<Finding[]> {
  const maskSecrets = createSecretMask(context.findMirror().env);
  const findings: Finding[] = [];
  for await (const { found, todo, ...finding } of runChecks(context))
    findings.push({ ...finding, found: maskSecrets(found), todo: todo && maskSecrets(todo) });
  return findings;
}

/** Platforms set DATABASE_URL without being asked, so the mirror does not use it. */
const UNUSED_DATABASE =
  'DATABASE_URL names a PostgreSQL that is not used, because it may belong to another program';
const DATABASE_ADVICE = 'To store the mirror there: MIRROR_DATABASE_URL="$DATABASE_URL" carbon-mirror up';

/** Runs all checks of `doctor` in order. The findings may contain secrets. */
async function* runChecks(context: CommandContext): AsyncGenerator<Finding> {
  const location = context.findMirror();
  const { engine, env } = location;
  if (await isDemoBeingCreated(location)) {
    yield warn('mirror', describeDemoCreation(location), 'Try again in a moment.');
    return;
  }
  yield ok('mirror', describeMirror(location));
  if (/^postgres(ql)?:/.test(env['DATABASE_URL'] ?? '') && !hasDatabaseUrl(env))
    yield { ...ok('mirror', UNUSED_DATABASE), todo: DATABASE_ADVICE };
  const workSettings = yield* checkSettings(env);
  yield* findExposures({ env, secretFiles: context.io.secretFiles });
  yield* checkOlderCopies(await engine.findOlderCopies());
  const receivers = yield* checkDatabases(context, workSettings);
  if (workSettings === null)
    yield fail('registry', 'not checked: the settings are incomplete', 'See the settings above.');
  else yield* checkRegistry(workSettings, context.io);
  yield await checkReceiver(env, receivers);
}

/**
 * Describes where the mirror is and which registry its data is from, such as "the mirror in /var/lib/carbon-mirror of
 * https://registry.example". Says so if there is no mirror yet.
 */
function describeMirror({ isDemo, engine, folder, env }: MirrorContext): string {
  const { location } = engine;
  if (engine.findMissingFile() !== null) return `no mirror in ${location} yet`;
  // A demo is also found by --env-file and DATA_DIR.
  const hasDemoFile = !hasDatabaseUrl(env) && existsSync(getDemoSettingsFile(folder));
  if (isDemo || hasDemoFile) return `the demo in ${location}: made-up data`;
  const url = env['REGISTRY_BASE_URL'] ?? '';
  return `the mirror in ${location}${URL.canParse(url) ? ` of ${new URL(url).origin}` : ''}`;
}

/**
 * Yields findings about the databases. At the end, returns the processes that receive webhooks for this mirror, according to
 * their heartbeats in the database; none if the database cannot be read.
 */
async function* checkDatabases(
  { io, requireMirror, openReader }: CommandContext,
  workSettings: WorkSettings | null,
): AsyncGenerator<Finding, ReceiverProcesses> {
  try {
    const { engine, env } = requireMirror();
    yield* engine.examine();
    const now = io.now();
    const reader = await openReader();
    const status = await readStatus(reader, now);
    for (const check of Object.values(MIRROR_CHECKS))
      yield* [await check({ reader, now, status, workSettings, env })].flat();
    yield* await checkEvidenceSealing({ io, requireMirror });
    yield* await checkSubscriptions({ io, requireMirror }, reader);
    return await readProcesses(reader, 'receive');
  } catch (error) {
    yield createDatabaseFinding(error);
    return [];
  }
}

/** Advice for errors of the databases, by error code. */
const ADVICE_BY_CODE: Readonly<Record<string, string>> = {
  earlier: 'Everything except history and deliveries can be read again from the registry.',
  away: 'Check that the server in MIRROR_DATABASE_URL is running and reachable from this machine.',
  refused: 'Check the user in MIRROR_DATABASE_URL and its rights.',
  missing: 'Create it, or set MIRROR_DATABASE_URL to another one.',
};

/** Converts an error that occurred while reading the databases to a finding with advice. */
function createDatabaseFinding(error: unknown): Finding {
  const lines = error instanceof CommandError ? error.lines : describeDatabaseDamage(error);
  const [found = error instanceof Error ? error.message : String(error), ...advice] = lines ?? [];
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const todo =
    advice.join(' ') || ADVICE_BY_CODE[code] || 'Run "carbon-mirror migrate", or restore a backup.';
  return fail('databases', found, todo);
}

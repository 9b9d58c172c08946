import type { Command } from 'commander';
import { namesDatabase } from '../../../config/database.js';
import type { WorkSettings } from '../../../config/settings.js';
import { hideSecrets } from '../../clean.js';
import { examples } from '../../command.js';
import { checkAnswers } from './answers.js';
import { checkDue, checkPace, checkRound } from './pace.js';
import { checkSettings } from './settings.js';
import { CommandFault, EXIT } from '../../exit.js';
import { findExposures } from '../../faults/exposures.js';
import type { Finding } from '../../../engines/contract/finding.js';
import { type Io, say } from '../../io.js';
import { writeValue } from '../../output/output.js';
import { findPlace, ownPlace } from '../../place/find-place.js';
import type { Place } from '../../place/place.js';
import { paintState } from '../../output/colour.js';
import { type Said, writeWrapped } from '../../output/wrapped.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('doctor')
    .description(
      'Check settings, clock, disk, databases, registry, permissions and processes; exit 3 where one fails',
    )
    .option('--json', 'print the findings as JSON')
    .action((options: { json?: boolean }) => examine(io, options));
  examples(command, [
    'carbon-mirror doctor',
    'carbon-mirror doctor --json | jq \'.[] | select(.state != "ok")\'',
  ]);
}

async function examine(io: Io, options: { json?: boolean }): Promise<void> {
  const place = placeOf(io);
  const { checkStore } = await import('./store.js');
  const { checkReceiver } = await import('./receiver.js');
  const { checkRegistry } = await import('./registry.js');
  const { findings, work } = await checkSettings(place);
  const hide = hideSecrets(place.env);
  const found: Finding[] = [
    describePlace(place),
    ...describeForeign(place.env),
    ...findings,
    ...checkExposures(place, io),
    ...(await checkStore(place, io.now())),
    ...(await registryFindings(checkRegistry, place, work, io)),
    ...(work === null ? [] : await checkPace(place, work.requestsPerSecond, io.now())),
    ...(await checkDue(place, work?.requestsPerSecond ?? null, io.now())),
    ...(await checkRound(place, work?.requestsPerSecond ?? null, io.now())),
    ...(await checkAnswers(place, io.now())),
    await checkReceiver(place),
  ];
  const all = found.map(finding => ({
    ...finding,
    found: hide(finding.found),
    todo: finding.todo && hide(finding.todo),
  }));
  if (options.json) await writeValue(io, all);
  else await writeText(io, all);
  const failed = all.filter(({ state }) => state === 'fail').length;
  const warned = all.filter(({ state }) => state === 'warn').length;
  if (failed > 0) throw new CommandFault(EXIT.checkFailed, `${failed} checks failed, ${warned} warn.`);
  say(io, warned === 0 ? 'All is well.' : `Nothing failed, ${warned} checks warn.`);
}

async function registryFindings(
  check: (place: Place, work: WorkSettings, io: Io) => Promise<Finding[]>,
  place: Place,
  work: WorkSettings | null,
  io: Io,
): Promise<Finding[]> {
  if (work !== null) return await check(place, work, io);
  return [
    {
      check: 'registry',
      state: 'fail',
      found: 'not asked: the settings are not complete',
      todo: 'See above.',
    },
  ];
}

function checkExposures({ env }: Place, { secretFiles }: Io): Finding[] {
  return findExposures({ env, secretFiles }).map(exposure => ({
    check: 'exposure',
    state: 'warn',
    ...exposure,
  }));
}

/** The doctor also looks where nothing is yet. */
function placeOf(io: Io): Place {
  try {
    return findPlace(io);
  } catch (error) {
    if (error instanceof CommandFault) return ownPlace(io);
    throw error;
  }
}

function describePlace({ demo, engine }: Place): Finding {
  const found = demo ? `the demo in ${engine.place}: made-up data` : `a real mirror in ${engine.place}`;
  return { check: 'place', state: 'ok', found, todo: null };
}

/** A platform's own name for a database says nothing of whose it is. */
function describeForeign(env: Place['env']): Finding[] {
  if (!/^postgres(ql)?:/.test(env['DATABASE_URL'] ?? '') || namesDatabase(env)) return [];
  const found = "DATABASE_URL names a PostgreSQL that is not used: it may be somebody else's";
  const todo = 'To keep the mirror there: MIRROR_DATABASE_URL="$DATABASE_URL" carbon-mirror up';
  return [{ check: 'place', state: 'ok', found, todo }];
}

/** Each finding once, and below one that is not well what to do. */
async function writeText(io: Io, findings: readonly Finding[]): Promise<void> {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  const beside = (state: string, check: string) => `${state.padEnd(5)}  ${check.padEnd(widest)}`;
  await writeWrapped(
    io,
    [
      [beside('state', 'check'), 'found'],
      ...findings.flatMap(({ state, check, found, todo }): Said[] => [
        [beside(state, check), found],
        ...(todo === null || state === 'ok' ? [] : [['', todo] as const]),
      ]),
    ],
    name => name.replace(/^\w+/, state => paintState('state', state)),
  );
}

import type { Finding } from '../../../store/contract/finding.js';
import { formatCount } from '../../../text/numbers.js';
import { defineCommand } from '../../command.js';
import { createCheckError } from '../../exit.js';
import type { Io } from '../../io.js';
import { colourState } from '../../output/colour.js';
import { type Definition, printDefinitions } from '../../output/definitions.js';

export const DOCTOR = defineCommand({
  summary: 'Check settings, databases, registry access and processes',
  details: 'Also checks clock, disk and permissions. Exits with code 3 if a check fails.',
  formats: { json: 'print the findings as JSON' },
  examples: ['carbon-mirror doctor', 'carbon-mirror doctor --json | jq \'.[] | select(.state != "ok")\''],
  run: async context => {
    const { runDoctorChecks: examine } = await import('./run-checks.js');
    const found = await examine(context);
    if (context.format === 'json') await context.printJson(found);
    else await writeText(context.io, found);
    const failed = found.filter(({ state }) => state === 'fail').length;
    const warned = found.filter(({ state }) => state === 'warn').length;
    if (failed > 0)
      throw createCheckError(`${formatCount(failed, 'check')} failed, ${formatCount(warned, 'warning')}.`);
    context.printNotice(
      warned === 0 ? 'All checks passed.' : `No check failed, ${formatCount(warned, 'warning')}.`,
    );
  },
});

/** Each finding once, and below one that is not well what to do. */
async function writeText(io: Io, findings: readonly Finding[]): Promise<void> {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  const beside = (state: string, check: string) => `${state.padEnd(5)}  ${check.padEnd(widest)}`;
  const lines = findings.flatMap(({ state, check, found, todo }): Definition[] => [
    [beside(state, check), found],
    ...(todo === null || state === 'ok' ? [] : [['', todo] as const]),
  ]);
  await printDefinitions(io, [[beside('state', 'check'), 'found'], ...lines], name =>
    name.replace(/^\w+/, state => colourState('state', state)),
  );
}

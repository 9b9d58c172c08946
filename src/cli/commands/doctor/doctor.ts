/**
 * `doctor`: checks everything that a mirror needs and prints one finding per check, with what to do about it. The checks
 * are in run-checks.ts; they change nothing and never show a secret.
 */
import type { Finding } from '../../../store/contract/finding.js';
import { formatCount } from '../../../text/numbers.js';
import { defineCommand } from '../../define-command.js';
import { createCheckError } from '../../command-error.js';
import type { Io } from '../../io.js';
import { colourState } from '../../output/colour.js';
import { type TermDefinition, printDefinitions } from '../../output/definitions.js';

export const DOCTOR = defineCommand({
  summary: 'Check settings, databases, registry access and processes',
  details: 'Also checks clock, disk and permissions. Exits with code 3 if a check fails.',
  formats: { json: 'print the findings as JSON' },
  examples: ['carbon-mirror doctor', 'carbon-mirror doctor --json | jq \'.[] | select(.state != "ok")\''],
  run: async context => {
    const { runDoctorChecks } = await import('./run-checks.js');
    const findings = await runDoctorChecks(context);
    if (context.format === 'json') await context.printJson(findings);
    else await printFindings(context.io, findings);
    const failures = findings.filter(({ state }) => state === 'fail').length;
    const warnings = findings.filter(({ state }) => state === 'warn').length;
    if (failures > 0)
      throw createCheckError(
        `${formatCount(failures, 'check')} failed, ${formatCount(warnings, 'warning')}.`,
      );
    context.printNotice(
      warnings === 0 ? 'All checks passed.' : `No check failed, ${formatCount(warnings, 'warning')}.`,
    );
  },
});

/** Prints each finding as a line. Prints advice below each warning and each failure. */
async function printFindings(io: Io, findings: readonly Finding[]): Promise<void> {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  const formatLabel = (state: string, check: string) => `${state.padEnd(5)}  ${check.padEnd(widest)}`;
  const lines = findings.flatMap(({ state, check, found, todo }): TermDefinition[] => [
    [formatLabel(state, check), found],
    ...(todo === null || state === 'ok' ? [] : [['', todo] as const]),
  ]);
  await printDefinitions(io, [[formatLabel('state', 'check'), 'found'], ...lines], label =>
    label.replace(/^\w+/, state => colourState('state', state)),
  );
}

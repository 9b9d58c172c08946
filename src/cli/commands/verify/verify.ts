import { createHash } from 'node:crypto';
import type { Reader } from '../../../store/contract/reader.js';
import type { Broken } from '../../../store/contract/broken.js';
import { countKnown } from '../../../query/coverage.js';
import { readNotCompared } from '../../../query/at-registry.js';
import { FRESH, wordsOf } from '../../../query/freshness/words.js';
import { readSignedTexts } from '../../../query/inbox/deliveries.js';
import { countFindings } from '../../../query/history/findings.js';
import { isListResource } from '../../../resources/lists.js';
import { formatOmittedCount, formatCount, MAX_SHOWN, formatWithCommas } from '../../../text/numbers.js';
import { truncateName } from '../../../text/clean-text.js';
import { verifyCertificateFiles } from '../../certificate-files.js';
import { defineCommand } from '../../command.js';
import type { CommandContext } from '../../context.js';
import { createCheckError, throwIfInterrupted, createUsageError } from '../../exit.js';
import { describeFindingCounts, FINDINGS_ADVICE } from '../../health.js';
import { countUncheckedLeaves, describeUncheckedLeaves, verifyEvidenceLog } from '../../evidence-log.js';
import { defineFlag, defineText } from '../../options.js';
import type { Verified } from '../../../evidence/verify.js';

const NOT_ASKED =
  'This check cannot detect an edit made to both a row and its stored JSON; use "carbon-mirror verify --against-registry".';

export const VERIFY = defineCommand({
  summary: 'Verify databases, evidence log and certificates',
  details: 'With --against-registry, also compares every row with the registry.',
  options: {
    againstRegistry: defineFlag('read everything again and compare it row by row'),
    evidence: defineText('folder', 'check an evidence folder instead; nothing in it is trusted'),
    key: defineText('key', 'with --evidence: public key of the log, as printed by "evidence init"'),
    since: defineText('checkpoint', 'with --evidence: file of an older checkpoint that you received'),
  },
  formats: { json: 'print the result as JSON' },
  examples: [
    'carbon-mirror verify',
    'carbon-mirror verify --against-registry --json',
    'carbon-mirror verify --evidence evidence-2025 --key KEY --since checkpoint-2025-01-31.txt',
  ],
  run: async (context, { againstRegistry, evidence, key, since }) => {
    if (evidence !== undefined) {
      const { verifyEvidenceFolder: checkFolder } = await import('../evidence/check.js');
      return await checkFolder(context, evidence, [key ?? '', ...(since === undefined ? [] : [since])]);
    }
    if (key !== undefined || since !== undefined)
      throw createUsageError('--key and --since require --evidence.');
    const interrupted = context.io.createInterruptSignal();
    const own = await check(context, interrupted);
    const [sealed, unchecked] = [await verifyEvidenceLog(context), await countUncheckedLeaves(context)];
    const compared = againstRegistry ? await compare(context, interrupted) : null;
    const unsealed = sealed?.faults.map(fault => ({ check: 'evidence', ...fault })) ?? [];
    const found = [...own.faults, ...unsealed, ...(compared?.faults ?? [])];
    const faults = found.map(each => ({ count: 1, ...each }));
    const { findings, rows: checked, files } = own;
    const { rows = null, organizations = null, known = null, left = null } = compared ?? {};
    if (context.format === 'json') {
      const notCompared = left?.map(({ name, ...each }) => ({ ...each, organizationName: name })) ?? null;
      const counts = { rowsChecked: checked, certificates: files, rows, organizations, known };
      const { covered = null, waiting = null } = sealed ?? {};
      const log = { sealed: covered, changesNotSealed: waiting, leavesNotChecked: unchecked };
      await context.printJson({ faults, findings, ...counts, ...log, notCompared });
    } else if (faults.length > 0) await context.printRows(['check', 'where', 'fault'], faults);
    const told = describeFindingCounts(findings);
    if (told !== null)
      context.printNotice(`Found in the registry's data (not mirror errors): ${told}. ${FINDINGS_ADVICE}`);
    sayLeft(context, left ?? []);
    if (unchecked > 0) context.printNotice(`${describeUncheckedLeaves(unchecked)}.`);
    if (faults.length > 0) {
      const faultCount = faults.reduce((sum, { count }) => sum + count, 0);
      throw createCheckError(
        `Verification failed: ${formatCount(faultCount, 'fault')}.`,
        compared === null || compared.faults.length < faults.length
          ? '"carbon-mirror sync --full" restores current data from the registry; only a backup restores dates, past versions and damaged files.'
          : 'The registry may have changed without a webhook: run "carbon-mirror sync", then verify again. Rows that still differ were changed in the mirror; "carbon-mirror sync --full" restores them.',
      );
    }
    if (rows === 0) {
      throw createCheckError(
        'Nothing was compared with the registry: no rows can be read there.',
        'See "carbon-mirror status" for the access that each organization grants.',
      );
    }
    if (sealed !== null) context.printNotice(describeSealed(sealed));
    context.printNotice(
      `${context.requireMirror().engine.checked}. The mirror is consistent: ${formatCount(checked, 'row')} (including past versions) and ${formatCount(files, 'certificate')}.`,
      compared === null
        ? NOT_ASKED
        : `${formatWithCommas(compared.rows)} rows match the registry (${compared.organizations} of ${formatCount(compared.known ?? 0, 'organization')}). Dates and past versions exist only here, so they were not compared.`,
    );
  },
});

function describeSealed({ leaves, covered, waiting, erased, removed, syncsKeptSince }: Verified): string {
  const expired = syncsKeptSince === null ? '' : `, which ended before ${syncsKeptSince}`;
  const missing = `Erased by forget and purge: ${formatWithCommas(erased)}. Removed after retention: ${formatCount(removed, 'sync')}${expired}.`;
  const unsealed = `${formatCount(waiting, 'newer change')} ${waiting === 1 ? 'is' : 'are'} not sealed yet.`;
  return `The newest checkpoint covers ${formatWithCommas(covered)} of ${formatWithCommas(leaves)} leaves of the log. ${missing} ${unsealed} Only a checkpoint held by someone else protects against whoever has the key.`;
}

/** What contradicts itself, whoever is asked. */
async function check(
  { io, requireMirror: location, openReader: open, openPdfs: pdfs }: CommandContext,
  interrupted: AbortSignal,
) {
  const { findContradictedRows: findUnderived } = await import('./compare.js');
  const reader = await open();
  let rows = 0;
  const broken: readonly Broken[] = [
    ...(await location().engine.findBroken(io.now())),
    ...(await findUnderived(reader, looked => void (rows += looked))),
    ...(await findChangedTexts(reader)),
  ];
  const findings = await countFindings(reader);
  const { checked, faults } = await verifyCertificateFiles(reader, await pdfs(), interrupted);
  const inRows = broken.map(({ law, where, count = 1 }) => ({ check: law, where, fault: 'broken', count }));
  const inFiles = faults.map(({ file, fault }) => ({ check: 'certificates', where: file, fault }));
  return { rows, findings, files: checked, faults: [...inRows, ...inFiles] };
}

/** What was signed must still be what its SHA-256 says. */
async function findChangedTexts(reader: Reader): Promise<Broken[]> {
  const changed: Broken[] = [];
  for await (const { id, sha256, signed_data: signed } of readSignedTexts(reader)) {
    if (createHash('sha256').update(signed).digest('hex') === sha256) continue;
    changed.push({ law: 'a signed text is what its SHA-256 says', where: `signed text ${id}` });
  }
  return changed;
}

async function compare(context: CommandContext, interrupted: AbortSignal) {
  const { compareWithRegistry } = await import('./compare.js');
  const reader = await context.openReader();
  const compared = await compareWithRegistry({
    reader,
    client: await context.connectRegistry(),
    turn: ({ resource, name }) => {
      throwIfInterrupted(interrupted);
      context.io.sendToParent({ reading: name });
      if (context.io.terminal.stderr && isListResource(resource)) context.printNotice(`Reading ${name} ...`);
    },
  });
  return { ...compared, known: await countKnown(reader), left: await readNotCompared(reader) };
}

/** An organization that is closed is named once, and so is one of which nothing is known yet. */
function sayLeft(context: CommandContext, all: Awaited<ReturnType<typeof readNotCompared>>): void {
  const given = all.map(({ organization_id: id, installation_id: by, name, resource, state, reason }) => {
    const isWhole = ['suspended', 'uninstalled'].includes(reason ?? state) || resource === '*';
    const of = isWhole ? '' : `, ${resource}`;
    return `${truncateName(name ?? id ?? by)}${of}: ${wordsOf({ ...FRESH, state, reason })}`;
  });
  const left = [...new Set(given)];
  const some = [...left.slice(0, MAX_SHOWN), formatOmittedCount(left.length) ?? []].flat();
  if (left.length > 0) context.printNotice(`Not compared: ${some.join('; ')}.`);
}

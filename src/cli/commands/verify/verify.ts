/**
 * `verify`: checks the databases, the evidence log and the certificate files of a mirror, and with --against-registry
 * compares every row with the registry. It changes nothing. `--evidence` checks an exported folder instead, with the
 * checker that outsiders use (../../../evidence/checker).
 */
import { createHash } from 'node:crypto';
import type { Reader } from '../../../store/contract/reader.js';
import type { ConsistencyFault } from '../../../store/contract/finding.js';
import { countInstalled, getOrganizationName } from '../../../query/coverage.js';
import { readNotCompared } from '../../../query/at-registry.js';
import { FRESH, wordsOf } from '../../../query/freshness/describe-freshness.js';
import { readSignedTexts } from '../../../query/inbox/deliveries.js';
import { countFindings } from '../../../query/history/findings.js';
import { isListResource } from '../../../resources/lists.js';
import { createProgress } from '../../output/progress.js';
import { formatOmittedCount, formatCount, MAX_SHOWN, formatWithCommas } from '../../../text/numbers.js';
import { truncateName } from '../../../text/clean-text.js';
import { verifyCertificateFiles } from '../../certificate-files.js';
import { defineCommand } from '../../define-command.js';
import type { CommandContext } from '../../context.js';
import { createCheckError, throwIfInterrupted, createUsageError } from '../../command-error.js';
import { describeFindingCounts, FINDINGS_ADVICE } from '../../describe-findings.js';
import {
  countUncheckedLeaves,
  describeUncheckedLeaves,
  verifyEvidenceLog,
} from '../../evidence/evidence-checks.js';
import { findOptionalOrganizationId } from '../../find-rows.js';
import { defineFlag, defineText, NAME_HINT } from '../../options.js';
import type { LogVerification } from '../../../evidence/verify-log.js';

const NOT_COMPARED_NOTE =
  'This check cannot detect an edit made to both a row and its stored JSON; use "carbon-mirror verify --against-registry".';

export const VERIFY = defineCommand({
  summary: 'Verify databases, evidence log and certificates',
  details:
    'With --against-registry, also compares every row with the registry, or every row of one organization. ' +
    'With --evidence, exits with 0 if the folder is verified, 3 if it is not, and 2 if it could not be checked.',
  options: {
    againstRegistry: defineFlag('read everything from the registry again and compare it row by row'),
    organization: defineText('name', `with --against-registry: compare only this organization${NAME_HINT}`),
    evidence: defineText('folder', 'check an evidence folder instead; nothing in it is trusted'),
    key: defineText('key', 'with --evidence: public key of the log, as printed by "evidence init"'),
    since: defineText('checkpoint', 'with --evidence: file of an older checkpoint that you received'),
  },
  formats: { json: 'print the result as JSON' },
  examples: [
    'carbon-mirror verify',
    'carbon-mirror verify --against-registry --json',
    'carbon-mirror verify --against-registry --organization ID',
    'carbon-mirror verify --evidence evidence-2025 --key KEY --since checkpoint-2025-01-31.txt',
  ],
  run: async (context, { againstRegistry, organization, evidence, key, since }) => {
    if (organization !== undefined && !againstRegistry)
      throw createUsageError('--organization requires --against-registry.');
    if (evidence !== undefined && againstRegistry)
      throw createUsageError('--evidence and --against-registry exclude each other.');
    if (evidence !== undefined) {
      const { verifyEvidenceFolder } = await import('../evidence/verify-folder.js');
      return await verifyEvidenceFolder(context, evidence, { key, since });
    }
    if (key !== undefined || since !== undefined)
      throw createUsageError('--key and --since require --evidence.');
    const organizationId = await findOptionalOrganizationId(await context.openReader(), organization);
    const report: VerificationReport = {
      local: await verifyLocalData(context),
      evidenceLog: await verifyEvidenceLog(context),
      uncheckedLeafCount: await countUncheckedLeaves(context),
      comparison: againstRegistry ? await compareRegistry(context, organizationId) : null,
    };
    const faults = mergeFaults(report);
    if (context.format === 'json') await context.printJson(toJsonReport(report, faults));
    else if (faults.length > 0) await context.printRows(['check', 'where', 'fault'], faults);
    printReportNotices(context, report);
    throwIfVerificationFailed(report, faults);
    printSuccess(context, report);
  },
});

interface VerificationReport {
  readonly local: Awaited<ReturnType<typeof verifyLocalData>>;
  /** Null without EVIDENCE_KEY_FILE, or if nothing was ever sealed. */
  readonly evidenceLog: LogVerification | null;
  readonly uncheckedLeafCount: number;
  /** Null without --against-registry. */
  readonly comparison: Awaited<ReturnType<typeof compareRegistry>> | null;
}

/** A fault, or several of one kind: `count` is their number. */
type VerificationFault = Readonly<Record<'check' | 'where' | 'fault', string>> & { readonly count: number };

/** Merges the faults of the local data, the evidence log and the comparison with the registry. */
function mergeFaults({ local, evidenceLog, comparison }: VerificationReport): VerificationFault[] {
  const evidenceFaults = evidenceLog?.faults.map(fault => ({ check: 'evidence', ...fault })) ?? [];
  const faults = [...local.faults, ...evidenceFaults, ...(comparison?.faults ?? [])];
  return faults.map(fault => ({ count: 1, ...fault }));
}

/** Converts the report to the object that `--json` prints. */
function toJsonReport(
  { local, evidenceLog, uncheckedLeafCount, comparison }: VerificationReport,
  faults: readonly VerificationFault[],
) {
  const notCompared = comparison?.notCompared.map(({ name, ...list }) => ({
    ...list,
    organizationName: name,
  }));
  return {
    faults,
    findings: local.findings,
    rowsChecked: local.rows,
    certificates: local.files,
    rows: comparison?.rows ?? null,
    organizations: comparison?.organizations ?? null,
    known: comparison?.known ?? null,
    sealed: evidenceLog?.covered ?? null,
    changesNotSealed: evidenceLog?.waiting ?? null,
    leavesNotChecked: uncheckedLeafCount,
    notCompared: notCompared ?? null,
  };
}

/** Prints the counts of suspicious rows in the registry's data, then which data was not verified. */
function printReportNotices(
  { printNotice }: CommandContext,
  { local, uncheckedLeafCount, comparison }: VerificationReport,
): void {
  const findings = describeFindingCounts(local.findings);
  if (findings !== null)
    printNotice(`Found in the registry's data (not mirror errors): ${findings}. ${FINDINGS_ADVICE}`);
  const notCompared = describeNotCompared(comparison?.notCompared ?? []);
  if (notCompared.length > 0) printNotice(`Not compared: ${notCompared.join('; ')}.`);
  if (uncheckedLeafCount > 0) printNotice(`${describeUncheckedLeaves(uncheckedLeafCount)}.`);
}

/**
 * Throws if the verification found faults, or if nothing was compared with the registry: there were no rows, or the list of no
 * organization could be read.
 */
function throwIfVerificationFailed(
  { comparison }: VerificationReport,
  faults: readonly VerificationFault[],
): void {
  if (faults.length > 0) {
    const faultCount = faults.reduce((sum, { count }) => sum + count, 0);
    const areAllAtRegistry = comparison !== null && comparison.faults.length === faults.length;
    throw createCheckError(
      `Verification failed: ${formatCount(faultCount, 'fault')}.`,
      areAllAtRegistry
        ? 'The registry may have changed without a webhook: run "carbon-mirror sync", then verify again. Rows that still differ were changed in the mirror; "carbon-mirror sync --full" restores them.'
        : '"carbon-mirror sync --full" restores current data from the registry; only a backup restores dates, past versions and damaged files.',
    );
  }
  if (comparison?.rows === 0 || comparison?.organizations === 0)
    throw createCheckError(
      'Nothing was compared with the registry: no rows can be read there.',
      'See "carbon-mirror status" for the access that each organization grants.',
    );
}

/** Prints a summary of what was verified. Call it only if no faults were found. */
function printSuccess(
  { requireMirror, printNotice }: CommandContext,
  { local, evidenceLog, comparison }: VerificationReport,
): void {
  const rows = formatCount(local.rows, 'row');
  const certificates = formatCount(local.files, 'certificate');
  if (evidenceLog !== null) printNotice(describeEvidenceLog(evidenceLog));
  printNotice(
    `${requireMirror().engine.checkedDescription}. The mirror is consistent: ${rows} (including past versions) and ${certificates}.`,
    comparison === null
      ? NOT_COMPARED_NOTE
      : `${formatWithCommas(comparison.rows)} rows match the registry (${comparison.organizations} of ${formatCount(comparison.known, 'organization')}). Dates and past versions exist only here, so they were not compared.`,
  );
}

/** Describes how many entries of the evidence log are signed, erased, removed or not signed yet. */
function describeEvidenceLog({
  leaves,
  covered,
  waiting,
  erased,
  removed,
  syncsKeptSince,
}: LogVerification): string {
  const expired = syncsKeptSince === null ? '' : `, which ended before ${syncsKeptSince}`;
  const missing = `Erased by forget and purge: ${formatWithCommas(erased)}. Removed after retention: ${formatCount(removed, 'sync')}${expired}.`;
  const unsealed = `${formatCount(waiting, 'newer change')} ${waiting === 1 ? 'is' : 'are'} not sealed yet.`;
  return `The newest checkpoint covers ${formatWithCommas(covered)} of ${formatWithCommas(leaves)} leaves of the log. ${missing} ${unsealed} Only a checkpoint held by someone else protects against whoever has the key.`;
}

/**
 * Verifies the databases and certificate files without calling the registry. Ctrl-C and SIGTERM end the process at once,
 * because no signal handler could run while SQLite works.
 */
async function verifyLocalData({ io, requireMirror, openReader, openPdfs }: CommandContext) {
  const { findContradictedRows } = await import('./contradicted-rows.js');
  const reader = await openReader();
  const showProgress = createProgress(io);
  let rows = 0;
  const onBatch = (rowCount: number) => {
    rows += rowCount;
    showProgress(`Comparing rows with their documents: ${formatWithCommas(rows)}`);
  };
  const broken: readonly ConsistencyFault[] = [
    ...(await requireMirror().engine.findConsistencyFaults(io.now(), (checked, total) =>
      showProgress(`Checking the databases: ${checked} of ${total} rules`),
    )),
    ...(await findContradictedRows(reader, onBatch)),
    ...(await findAlteredDeliveries(reader)),
  ];
  showProgress("Counting findings in the registry's data");
  const findings = await countFindings(reader);
  showProgress('Checking certificates');
  const { checked, faults } = await verifyCertificateFiles(reader, await openPdfs());
  showProgress(null);
  const databaseFaults = broken.map(({ law, where, count = 1 }) => ({
    check: law,
    where,
    fault: 'broken',
    count,
  }));
  const fileFaults = faults.map(({ file, fault }) => ({ check: 'certificates', where: file, fault }));
  return { rows, findings, files: checked, faults: [...databaseFaults, ...fileFaults] };
}

/** Finds deliveries whose stored signed text does not match its stored SHA-256. */
async function findAlteredDeliveries(reader: Reader): Promise<ConsistencyFault[]> {
  const changed: ConsistencyFault[] = [];
  for await (const { id, sha256, signed_data: signedText } of readSignedTexts(reader)) {
    if (createHash('sha256').update(signedText).digest('hex') === sha256) continue;
    changed.push({ law: 'each signed text matches its SHA-256', where: `signed text ${id}` });
  }
  return changed;
}

/**
 * Compares one organization (null: all of them) with the registry, and reports progress to user and parent process.
 */
async function compareRegistry(context: CommandContext, organizationId: string | null) {
  const { compareWithRegistry } = await import('./compare-with-registry.js');
  const { io, printNotice } = context;
  const reader = await context.openReader();
  const interrupted = io.createInterruptSignal();
  const result = await compareWithRegistry({
    reader,
    client: await context.connectRegistry(),
    organizationId,
    onNext: ({ resource, name }) => {
      throwIfInterrupted(interrupted);
      io.sendToParent({ reading: name });
      if (io.terminal.stderr && isListResource(resource)) printNotice(`Reading ${name} ...`);
    },
  });
  return {
    ...result,
    known: await countInstalled(reader, organizationId),
    notCompared: await readNotCompared(reader, organizationId),
  };
}

/**
 * Returns lines that say which lists were not compared, and why. An organization that suspended or uninstalled the app gets one
 * line for all its lists, and equal lines are merged. Beyond a maximum, the last line says how many lines are left out.
 */
function describeNotCompared(lists: Awaited<ReturnType<typeof readNotCompared>>): string[] {
  const descriptions = lists.map(({ organization_id, installation_id, name, resource, state, reason }) => {
    // Name an organization once, and not each of its lists, if it suspended or uninstalled the app.
    const isWholeOrganization = ['suspended', 'uninstalled'].includes(reason ?? state) || resource === '*';
    const list = isWholeOrganization ? '' : `, ${resource}`;
    const owner = truncateName(getOrganizationName({ name, organization_id, installation_id }));
    return `${owner}${list}: ${wordsOf({ ...FRESH, state, reason })}`;
  });
  const distinct = [...new Set(descriptions)];
  return [...distinct.slice(0, MAX_SHOWN), formatOmittedCount(distinct.length) ?? []].flat();
}

import type { CheckReport, VerifiedEvidence } from './check.js';
import {
  describeEvidence,
  describeTimestamps,
  describeTotal,
  describeWarnings,
  formatTotalTonnes,
  getName,
  indexCertificates,
  listTotals,
} from './describe-evidence.js';
import { formatListName } from './column-labels.js';
import { getText } from './row-versions.js';
import { formatCount, formatList, makePrintable } from './text.js';

/** Exit codes of `check.mjs` and `verify --evidence`, by verdict. */
export const EXIT_CODES = { verified: 0, 'could not be checked': 2, 'not verified': 3 } as const;

/** Formats a report as lines for a terminal. The last line is the verdict. */
export function formatReport({ verdict, faults, uncheckedFiles, evidence }: CheckReport): string[] {
  const lines = [
    ...(evidence === null ? [] : formatEvidence(evidence)),
    ...(uncheckedFiles.length === 0 ? [] : [`Not checked, do not rely on: ${formatList(uncheckedFiles)}.`]),
    ...describeTimestamps(uncheckedFiles),
    ...faults.map(fault => `Fault: ${fault}`),
    `Verdict: ${verdict}`,
  ];
  return lines.map(makePrintable);
}

/** Formats the content of a verified folder as lines: what was verified, totals, reads and warnings. */
function formatEvidence(evidence: VerifiedEvidence): string[] {
  const totals = listTotals(evidence).map(total => {
    const tonnes = formatTotalTonnes(total);
    const sum = tonnes === null ? '' : `, ${tonnes}, ${total.withoutAmount} without a usable amount`;
    return `${describeTotal(total, evidence)}: ${formatCount(total.rows, 'row')}${sum}; none is missing.`;
  });
  const reads = evidence.reads.map(
    ({ list, organization, readAt, failedSince }) =>
      `${formatListName(list)} of ${getName(evidence, organization)}: last sealed complete read ${readAt ?? 'none'}, ${formatCount(failedSince, 'failed read')} since.`,
  );
  return [
    ...describeEvidence(evidence),
    ...totals,
    ...formatRetirement(evidence),
    ...reads,
    ...describeWarnings(evidence).map(warning => `Note well: ${warning}`),
  ];
}

/** Formats the retirement as a line if the folder is evidence of a retirement; otherwise returns no line. */
function formatRetirement(evidence: VerifiedEvidence): string[] {
  if (evidence.header.scope !== 'retirement') return [];
  const hash = indexCertificates(evidence).get(evidence.header.value);
  const retirement = evidence.rows.find(({ list }) => list === 'retirements');
  if (retirement === undefined) return [];
  const { record } = retirement.leaf;
  const certificate = hash === undefined ? 'no certificate here' : `certificate with SHA-256 ${hash}`;
  return [
    `Retirement ${evidence.header.value}: ${getText(record, 'amount_exact')} t, ${getText(record, 'project_name')} ${getText(record, 'vintage')}, for ${getText(record, 'beneficiary') || 'nobody'}, dated ${retirement.datedAt ?? 'never'}, ${certificate}.`,
  ];
}

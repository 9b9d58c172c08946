import type { VerifiedEvidence } from './check.js';
import { chooseColumns, formatColumnName, formatListName } from './column-labels.js';
import type { EndedRow, OlderCounts } from './older-counts.js';
import { formatField, getText, type RowVersion } from './row-versions.js';
import { formatCount, formatInstant, formatList, formatTonnes } from './text.js';

/** The total of a list over the months that the folder is evidence of. Rows are dated either by the registry or by the mirror. */
export interface ListTotal {
  readonly list: string;
  readonly datedBy: 'mirror' | 'registry';
  /** The number of rows. */
  readonly rows: number;
  /** The exact sum of the amounts in millionths of a tonne. */
  readonly micro: bigint;
  /** The number of rows that have no usable amount. */
  readonly withoutAmount: number;
}

/**
 * Returns the totals of each list, retirements first. Sums only the months that the folder must show completely. For a period, the result
 * always has both totals of retirements: those dated by the registry, and those first observed by the mirror. A total without rows is 0.
 */
export function listTotals({ header, months }: Pick<VerifiedEvidence, 'header' | 'months'>): ListTotal[] {
  if (header.scope !== 'period') return sumMonths(months);
  const nothing = { list: 'retirements', rows: 0, micro: 0n, withoutAmount: 0 };
  return sumMonths([{ ...nothing, datedBy: 'registry' }, { ...nothing, datedBy: 'mirror' }, ...months]);
}

/** Adds up months to one total for each list and each way of dating. Sorts retirements first. */
function sumMonths(months: readonly ListTotal[]): ListTotal[] {
  const totals = new Map<string, ListTotal>();
  for (const { list, datedBy, rows, micro, withoutAmount } of months) {
    const key = `${list} ${datedBy}`;
    const sum = totals.get(key) ?? { list, datedBy, rows: 0, micro: 0n, withoutAmount: 0 };
    totals.set(key, {
      list,
      datedBy,
      rows: sum.rows + rows,
      micro: sum.micro + micro,
      withoutAmount: sum.withoutAmount + withoutAmount,
    });
  }
  const getRank = ({ list, datedBy }: ListTotal) =>
    `${list === 'retirements' ? 0 : 1} ${list} ${datedBy === 'registry' ? 0 : 1}`;
  return [...totals.values()].toSorted((left, right) => (getRank(left) < getRank(right) ? -1 : 1));
}

/** Describes what a total counts, such as "Retirements, dated in 2025 by the registry". */
export function describeTotal({ list, datedBy }: ListTotal, { header }: VerifiedEvidence): string {
  const period = header.scope === 'period' ? ` in ${header.value}` : '';
  const dated = datedBy === 'registry' ? `dated${period} by the registry` : `first observed${period}`;
  return `${formatListName(list)}, ${dated}`;
}

/**
 * Formats the tonnes of a total of retirements; null for other lists. Credits are of two types, whose tonnes must not be added to
 * each other.
 */
export function formatTotalTonnes({ list, micro }: ListTotal): string | null {
  return list === 'retirements' ? formatTonnes(micro) : null;
}

/**
 * Returns a sentence with the period, organization or retirement that a folder is evidence of, the instant of its checkpoint, and the log
 * that signed the checkpoint.
 */
export function describeFolder({ header, checkpoint, signer, ...evidence }: VerifiedEvidence): string {
  const { scope, value } = header;
  const subject = scope === 'organization' ? getName(evidence, value) : value;
  return `Evidence of ${scope} ${subject} as of ${formatInstant(checkpoint.instant)}, signed by the log ${signer.name}.`;
}

/** Describes in sentences what was verified. */
export function describeEvidence(evidence: VerifiedEvidence): string[] {
  const { header, checkpoint, signer, rows, syncs, otherOrganizations, organizations } = evidence;
  const observed = rows.map(({ observedAt }) => observedAt).toSorted();
  const neverSealed = organizations.filter(({ hasRows }) => !hasRows);
  return [
    `Evidence of ${header.scope} ${header.value}.`,
    `Log ${checkpoint.origin}, ${formatCount(checkpoint.size, 'leaf', 'leaves')}, signed at ${checkpoint.instant} by the clock of its signer.`,
    `Signed by the key ${signer.key} of ${signer.name}.`,
    ...signer.changes.map(
      ({ oldKey, newKey, at }) => `The key ${oldKey} was replaced by ${newKey} at ${at}.`,
    ),
    `The current versions of the rows were observed from ${observed[0]} to ${observed.at(-1)}.`,
    `${syncs.shown} of the ${formatCount(syncs.total, 'read')} that observed the rows are shown.`,
    ...describeCertificates(evidence),
    `${formatCount(otherOrganizations, 'known organization')} ${otherOrganizations === 1 ? 'is' : 'are'} not in this folder.`,
    ...(neverSealed.length === 0
      ? []
      : [
          `No row was ever sealed of ${formatList(neverSealed.map(({ name, organization, state }) => `${name || organization} (${state})`))}.`,
        ]),
    ...describeOlderCheckpoint(evidence),
  ];
}

/** Describes in sentences what readers must know before they rely on the rows. Empty if there is nothing to warn of. */
export function describeWarnings(evidence: VerifiedEvidence): string[] {
  const { signer, older, logEvents, reads } = evidence;
  const failing = reads.filter(({ failedSince }) => failedSince > 0);
  const neverRead = reads.filter(({ readAt }) => readAt === null);
  return [
    ...(older === null
      ? ['No older checkpoint was given: whoever has the key can have written all of this today.']
      : []),
    ...(failing.length === 0
      ? []
      : [
          `Reads failed since the last complete one: ${formatList(failing.map(read => `${formatListName(read.list)} of ${getName(evidence, read.organization)} (${formatCount(read.failedSince, 'read')})`))}. What the registry listed since then is not here.`,
        ]),
    ...(neverRead.length === 0
      ? []
      : [
          `Never read completely: ${formatList(neverRead.map(read => `${formatListName(read.list)} of ${getName(evidence, read.organization)}`))}.`,
        ]),
    ...describeMissingVersions(evidence),
    ...logEvents.map(({ record }) => describeLogEvent(record)),
    ...(signer.otherSignatures.length === 0
      ? []
      : [
          `The checkpoint has other signatures, which were not checked: ${formatList(signer.otherSignatures)}.`,
        ]),
    ...signer.ignoredLeaves.map(
      leafIndex => `Leaf ${leafIndex} names a new key without a signature of the old one. It was ignored.`,
    ),
    ...(older?.sealedLate.length
      ? [
          `${formatCount(older.sealedLate.length, 'row says', 'rows say')} that they were observed before your older checkpoint was signed, and were sealed after it: ${formatList(older.sealedLate.map(describeRow))}.`,
        ]
      : []),
    ...(older?.counts ? describeOlderCounts(older.counts) : []),
  ];
}

/** Returns a sentence for each timestamp among the unchecked files: the command that checks it. */
export function describeTimestamps(uncheckedFiles: readonly string[]): string[] {
  const tokens = uncheckedFiles.filter(name => /^timestamps\/\d{1,15}\.tst$/.test(name));
  return tokens.map(
    name =>
      `Timestamp not checked. With the certificates of the authority, run in the folder: openssl ts -verify -data checkpoint.txt -in ${name} -token_in -CAfile AUTHORITY.pem`,
  );
}

/** Returns the name of an organization, or its id if the folder does not show its name. */
export function getName({ organizations }: Pick<VerifiedEvidence, 'organizations'>, id: string): string {
  return organizations.find(({ organization }) => organization === id)?.name || id;
}

/** Maps the id of each retirement that has a certificate to the SHA-256 of its newest one. */
export function indexCertificates({
  rows,
  otherVersions,
}: Pick<VerifiedEvidence, 'rows' | 'otherVersions'>): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  /** Current certificates come last, and so replace earlier ones. */
  for (const { list, leaf } of [...otherVersions, ...rows])
    if (list === 'certificates' && leaf.record.has('sha256'))
      hashes.set(getText(leaf.record, 'retirement_id'), getText(leaf.record, 'sha256'));
  return hashes;
}

/**
 * Returns a sentence that counts the earlier versions of a retirement that the folder does not show. Returns no sentence if none is
 * missing, or if the folder is not evidence of a retirement.
 */
function describeMissingVersions({ header, rows, otherVersions }: VerifiedEvidence): string[] {
  if (header.scope !== 'retirement') return [];
  const shown = [...rows, ...otherVersions];
  const known = new Set<unknown>(shown.map(({ version }) => version));
  const replaced = shown.map(({ leaf }) => leaf.record.get('ended_version'));
  const missing = replaced.filter(version => version !== undefined && !known.has(version)).length;
  if (missing === 0) return [];
  return [
    `${formatCount(missing, 'earlier version')} of the shown rows ${missing === 1 ? 'is' : 'are'} not here.`,
  ];
}

/**
 * Returns a sentence that says of how many shown retirements the certificate is in the folder. Returns no sentence if the folder shows no
 * retirement.
 */
function describeCertificates(evidence: VerifiedEvidence): string[] {
  const certificates = indexCertificates(evidence);
  const retirements = evidence.rows.filter(({ list }) => list === 'retirements');
  if (retirements.length === 0) return [];
  const withPdf = retirements.filter(({ leaf }) => certificates.has(getText(leaf.record, 'id')));
  return [
    `${withPdf.length} of ${formatCount(retirements.length, 'retirement')} ${withPdf.length === 1 ? 'has its' : 'have their'} certificate here.`,
  ];
}

/** Describes the record of a leaf about an erasure or a restore. */
function describeLogEvent(record: RowVersion['leaf']['record']): string {
  const at = getText(record, 'at');
  const kind = getText(record, 'kind');
  if (kind !== 'restore')
    return `"${kind}" erased the content of ${formatCount(Number(record.get('leaves')), 'leaf', 'leaves')} at ${at}. These leaves are neither shown nor counted here, and the log does not say whose they were.`;
  const lost = formatCount(Number(record.get('lost') ?? 0), 'signed leaf was', 'signed leaves were');
  const checkpoint = record.has('lost_size')
    ? ` The newest lost checkpoint had ${formatField(record, 'lost_size')} leaves of ${getText(record, 'lost_origin')}.`
    : '';
  return `A backup was restored at ${at}: ${lost} lost, and the log continued as ${getText(record, 'origin')}.${checkpoint}`;
}

/** Describes in sentences how the log continues from the older checkpoint. Empty if there is none. */
function describeOlderCheckpoint({ older, rows }: VerifiedEvidence): string[] {
  if (older === null) return [];
  const { size, instant } = older.checkpoint;
  const known = rows.filter(({ leaf }) => leaf.leafIndex < size).length;
  return [
    `The log begins with the ${formatCount(size, 'leaf', 'leaves')} of your older checkpoint, signed at ${instant}.`,
    `${formatCount(known, 'row was', 'rows were')} in the log when your older checkpoint was signed. Only the signature says when later rows were sealed.`,
    ...(older.counts === null ? [] : describeOlderTotals(older.counts)),
  ];
}

/**
 * Returns sentences with the totals of retirements at the older checkpoint, and with the numbers of rows that were replaced or removed
 * after it. Returns no sentence if none of the rows at the older checkpoint can be compared.
 */
function describeOlderTotals({ months, ended, unknown }: OlderCounts): string[] {
  if (months.length === 0 && unknown.length > 0) return [];
  const totals = sumMonths(months).filter(({ list }) => list === 'retirements');
  const sentences = totals.map(
    total =>
      `At your older checkpoint: retirements ${total.datedBy === 'registry' ? 'dated by the registry' : 'first observed'}, ${formatCount(total.rows, 'row')}, ${formatTonnes(total.micro)}.`,
  );
  const removed = ended.filter(({ after }) => after === null).length;
  const compared = unknown.length === 0 ? 'Of all rows' : 'Of the comparable rows';
  return [
    ...sentences,
    `${compared} of the scope at that checkpoint, ${formatCount(ended.length - removed, 'row was', 'rows were')} replaced since and ${formatCount(removed, 'row was', 'rows were')} removed.`,
  ];
}

/** Describes in sentences which retirements were removed or changed since the older checkpoint, and what is unknown. */
function describeOlderCounts({ ended, unknown, erasedLeaves, hasNoOrganization }: OlderCounts): string[] {
  const retirements = ended.filter(({ before }) => before.list === 'retirements');
  const removed = retirements.filter(({ after }) => after === null);
  const changed = retirements.filter(
    ({ before, after }) => after !== null && hasOtherDateOrAmount(before, after),
  );
  const reworded = retirements.flatMap(({ before, after }) => {
    const fields = after === null ? [] : describeChangedFields(before, after);
    return fields.length === 0 ? [] : [`${describeRow(before)} (${fields.join('; ')})`];
  });
  return [
    ...(removed.length === 0
      ? []
      : [
          `Retirements that your older checkpoint counted, and that were removed since: ${formatList(removed.map(describeEndedRow))}.`,
        ]),
    ...(changed.length === 0
      ? []
      : [
          `Retirements whose date or amount changed since your older checkpoint: ${formatList(changed.map(describeEndedRow))}.`,
        ]),
    ...(reworded.length === 0
      ? []
      : [`Retirements with other changes since your older checkpoint: ${formatList(reworded)}.`]),
    ...(hasNoOrganization
      ? [
          'At your older checkpoint this organization had no sealed rows, or they were left out here. Evidence of a period cannot leave them out.',
        ]
      : []),
    ...(unknown.length === 0
      ? []
      : [
          `${formatCount(erasedLeaves, 'leaf was', 'leaves were')} erased since your older checkpoint, so its counts cannot be compared for ${formatList(unknown)}.`,
        ]),
  ];
}

/** Returns true if two versions of a row differ in the registry's date or in the amount. */
function hasOtherDateOrAmount(before: RowVersion, after: RowVersion): boolean {
  return before.micro !== after.micro || before.datedAt !== after.datedAt;
}

/** Describes each column, other than date and amount, in which two versions of a row differ. Considers only the main columns. */
function describeChangedFields(before: RowVersion, after: RowVersion): string[] {
  const columns = new Set([...before.leaf.record.keys(), ...after.leaf.record.keys()]);
  const ignored = new Set(['created_at', 'amount_exact', 'valid_from']);
  return chooseColumns(columns, false).flatMap(column => {
    const [old = '', current = ''] = [before, after].map(({ leaf }) => formatField(leaf.record, column));
    if (ignored.has(column) || old === current) return [];
    return [`${formatColumnName(column)} ${JSON.stringify(old)}, now ${JSON.stringify(current)}`];
  });
}

/** Describes a row that has ended: its amount and date, and those of the version that replaced it. */
function describeEndedRow({ before, after }: EndedRow): string {
  return `${describeRow(before)} (${describeAmount(before)}${after === null ? '' : `, now ${describeAmount(after)}`})`;
}

/** Describes the amount and the registry's date of a row. */
function describeAmount({ micro, datedAt }: RowVersion): string {
  return `${micro === null ? 'no usable amount' : formatTonnes(micro)}, dated ${datedAt ?? 'never'}`;
}

/** Names a row by its list and id, such as "retirements 5c1". */
function describeRow({ list, leaf }: RowVersion): string {
  const id = ['id', 'credit_id', 'retirement_id'].map(name => getText(leaf.record, name)).find(Boolean);
  return `${list} ${id}`;
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkEvidence } from '../../src/evidence/checker/check.js';
import { listFolder } from '../../src/evidence/checker/node/folder.js';
import { formatReport } from '../../src/evidence/checker/report-lines.js';

/** An evidence folder in memory: the content of each file by its path. */
export type FolderContent = ReadonlyMap<string, Uint8Array>;

/** A line of evidence.jsonl. */
export type Line = Readonly<Record<string, unknown>> & {
  readonly record?: Readonly<Record<string, unknown>>;
};

const KINDS = ['format', 'row', 'leaf', 'hidden', 'months_of', 'reads_of', 'named_by', 'level', 'document'];
const KEYS: Readonly<Record<string, readonly string[]>> = {
  row: ['row'],
  leaf: ['leaf'],
  hidden: ['hidden', 'list', 'month', 'version'],
  months_of: ['months_of', 'list', 'dated_by', 'month'],
  reads_of: ['reads_of', 'list'],
  named_by: ['named_by', 'named'],
  level: ['level', 'index'],
};

/** Checks a folder as an auditor would. `olderFile` is a file with a checkpoint. */
export async function checkFolder(folder: string, key = '', olderFile?: string) {
  const olderCheckpoint = olderFile === undefined ? '' : readFileSync(olderFile, 'utf8');
  return await describeCheck({ files: await listFolder(folder), key, olderCheckpoint });
}

/** Checks a folder in memory. `olderCheckpoint` is the text of a checkpoint. */
export async function checkContent(content: FolderContent, key: string, olderCheckpoint = '') {
  const files = new Map(
    [...content].map(([name, bytes]) => [name, { size: bytes.length, read: async () => bytes }] as const),
  );
  return await describeCheck({ files, key, olderCheckpoint });
}

async function describeCheck(request: Parameters<typeof checkEvidence>[0]) {
  const report = await checkEvidence(request);
  return { ...report, output: `${formatReport(report).join('\n')}\n` };
}

/** Lists the files below a folder by their paths. */
export function listPaths(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

export function readContent(folder: string): FolderContent {
  return new Map(listPaths(folder).map(path => [path, readFileSync(join(folder, path))]));
}

export function parseLines(content: FolderContent): Line[] {
  const text = Buffer.from(content.get('evidence.jsonl') ?? Buffer.of()).toString();
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line));
}

/** Returns the kind of a line: the name of the field that only this kind has. */
export function getKind(line: Line): string {
  return KINDS.find(name => name in line) ?? '';
}

/** Replaces evidence.jsonl, with the lines in their order and in canonical JSON, as a careful forger would. */
export function withLines(content: FolderContent, lines: readonly Line[]): FolderContent {
  const keyed = lines.map(line => {
    const kind = getKind(line);
    const names = KEYS[kind] ?? [];
    const key = kind === 'document' ? [sha256(String(line['document']))] : names.map(name => line[name]);
    return { key: [KINDS.indexOf(kind), ...key], text: `${formatJson(line)}\n` };
  });
  keyed.sort((left, right) => compare(left.key, right.key));
  return new Map(content).set('evidence.jsonl', Buffer.from(keyed.map(({ text }) => text).join('')));
}

function compare(left: readonly unknown[], right: readonly unknown[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index];
    if (value === other) continue;
    if (typeof value === 'number' && typeof other === 'number') return value - other;
    return String(value) < String(other) ? -1 : 1;
  }
  return 0;
}

/** Formats a value as canonical JSON. */
export function formatJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${formatJson(field)}`).join(',')}}`;
}

export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** Computes the commitment of a leaf. */
export function computeCommitment({ record, salt }: Line): string {
  return sha256(Buffer.from(String(salt), 'hex'), formatJson(record));
}

/** Returns the place of a leaf or row. */
export function getPlace(line: Line): number {
  return Number(line['row'] ?? line['leaf']);
}

/**
 * Removes a leaf and puts its hash in its place, so that the tree keeps its root. Also removes documents that no other leaf needs.
 */
export function hideLeaf(lines: readonly Line[], leaf: Line): Line[] {
  const others = lines.filter(line => line !== leaf);
  const node = {
    hash: sha256(Buffer.of(0), Buffer.from(computeCommitment(leaf), 'hex')),
    index: getPlace(leaf),
    level: 0,
  };
  return dropUnusedDocuments([...others, node]);
}

/** Removes documents whose hash no record contains. */
export function dropUnusedDocuments(lines: readonly Line[]): Line[] {
  const needed = new Set(lines.map(({ record }) => record?.['document_sha256']));
  return lines.filter(line => getKind(line) !== 'document' || needed.has(sha256(String(line['document']))));
}

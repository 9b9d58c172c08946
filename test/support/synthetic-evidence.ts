import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigningKey } from '../../src/evidence/signing-key.js';
import { signNote } from '../../src/evidence/signed-note.js';
import { EMPTY_TREE, createMerkleTree } from '../../src/evidence/tree.js';
import {
  computeCommitment,
  type FolderContent,
  formatJson,
  type Line,
  sha256,
  withLines,
} from './evidence-folder.js';

const OBSERVED = '2026-01-02T03:04:05.006Z';
const SIGNED = '2026-02-01T00:00:00.000Z';
const ORGANIZATION = 'organization-1';
const PDF_BYTES = 8_000;

/** Writes an evidence folder of one organization without a mirror, so that it can be large. Returns the key in hex. */
export function writeSyntheticEvidence(folder: string, retirements: number, certificates: number): string {
  mkdirSync(join(folder, 'certificates'), { recursive: true });
  const records: Record<string, unknown>[] = [];
  const documents: Line[] = [];
  for (let index = 0; index < retirements; index += 1) {
    const document = JSON.stringify({ id: `retirement-${index}`, amount: 12.5, note: 'x'.repeat(600) });
    documents.push({ document });
    records.push(createRetirement(index, sha256(document)));
  }
  for (let index = 0; index < certificates; index += 1) {
    const pdf = Buffer.concat([Buffer.from(`%PDF-1.4 ${index}\n`), randomBytes(PDF_BYTES)]);
    const hash = sha256(pdf);
    writeFileSync(join(folder, 'certificates', `${hash}.pdf`), pdf);
    records.push(createCertificate(retirements + index, index, hash, pdf.length));
  }
  const rows: Line[] = records.map((record, row) => ({ record, row, salt: sha256(`salt ${row}`) }));
  const months = sumMonths(rows);
  const organizationPlace = rows.length + 1;
  const organization = {
    kind: 'organization',
    organization_id: ORGANIZATION,
    failing_lists: 0,
    months: months.length,
    months_sha256: hashLines(months),
    rows: rows.length,
    reads_sha256: hashLines([READS]),
  };
  const coverage = { kind: 'coverage', organization_id: ORGANIZATION, installation_id: 'i', state: 'active' };
  const others: Line[] = [coverage, organization].map((record, index) => {
    return { leaf: rows.length + index, record, salt: sha256(`salt of leaf ${index}`) };
  });
  const named = others.map(line => {
    return { commitment: computeCommitment(line), kind: line.record?.['kind'], named: line['leaf'] };
  });
  const last = {
    kind: 'complete',
    named_sha256: hashLines(named),
    organizations: 1,
    previous_size: 0,
    sealed_at: SIGNED,
    up_to: rows.length,
  };
  const lastPlace = organizationPlace + 1;
  const leaves = [...rows, ...others, { leaf: lastPlace, record: last, salt: sha256('last salt') }];
  const lines: Line[] = [
    { format: 2, scope: 'organization', value: ORGANIZATION },
    ...leaves,
    ...months.map(month => ({ ...month, months_of: organizationPlace })),
    { ...READS, reads_of: organizationPlace },
    ...named.map(name => ({ ...name, named_by: lastPlace })),
    ...documents,
  ];
  const key = createSigningKey('synthetic.example/log', Buffer.alloc(32, 7));
  const tree = createMerkleTree(EMPTY_TREE);
  for (const leaf of leaves) tree.append(Buffer.from(computeCommitment(leaf), 'hex'));
  const note = signNote(`${key.name}\n${leaves.length}\n${tree.computeRoot()}\n${SIGNED}\n`, key);
  const content: FolderContent = withLines(new Map([['checkpoint.txt', Buffer.from(note)]]), lines);
  for (const [name, bytes] of content) writeFileSync(join(folder, name), bytes);
  return key.publicKey.toString('hex');
}

const READS: Line = { failed_since: 0, list: 'retirements', read_at: OBSERVED, read_leaf: 1 };

function createRetirement(index: number, document: string) {
  return {
    kind: 'change',
    resource: 'retirements',
    amount: 12.5,
    amount_exact: '12.5',
    amount_micro: 12_500_000,
    beneficiary: `Beneficiary ${index % 97}`,
    created_at: new Date(Date.parse('2025-01-01T00:00:00.000Z') + index * 1_800_000).toISOString(),
    document_sha256: document,
    id: `retirement-${index}`,
    is_claimed: 1,
    organization_id: ORGANIZATION,
    project_id: `project-${index % 31}`,
    project_name: `Project ${index % 31} with a name of some length`,
    reason: 'Voluntary purposes',
    serialization: 'ICR-ISL-354-1-14-R-0-2021',
    sync_id: 1,
    valid_from: OBSERVED,
    version: index + 1,
    vintage: String(2015 + (index % 8)),
  };
}

function createCertificate(index: number, retirement: number, hash: string, size: number) {
  return {
    kind: 'change',
    resource: 'certificates',
    fetched_at: OBSERVED,
    organization_id: ORGANIZATION,
    retirement_id: `retirement-${retirement}`,
    sha256: hash,
    size,
    state: 'stored',
    sync_id: 1,
    valid_from: OBSERVED,
    version: index + 1,
  };
}

function sumMonths(rows: readonly Line[]): Line[] {
  const groups = new Map<string, Line[]>();
  for (const row of rows.toReversed())
    for (const [datedBy, field] of [
      ['mirror', 'valid_from'],
      ['registry', 'created_at'],
    ] as const) {
      const at = row.record?.[field];
      if (typeof at !== 'string') continue;
      const name = `${String(row.record?.['resource'])} ${datedBy} ${at.slice(0, 7)}`;
      const members = groups.get(name) ?? [];
      groups.set(name, members);
      members.push(row);
    }
  return [...groups]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, members]) => {
      const [list = '', dated_by = '', month = ''] = name.split(' ');
      const amounts = members.flatMap(({ record }) => record?.['amount_micro'] ?? []);
      return {
        commitments: sha256(members.map(row => `${computeCommitment(row)}\n`).join('')),
        dated_by,
        list,
        micro: String(amounts.reduce((sum: bigint, micro) => sum + BigInt(Number(micro)), 0n)),
        month,
        rows: members.length,
        without_amount: members.length - amounts.length,
      };
    });
}

function hashLines(lines: readonly Line[]): string {
  return sha256(lines.map(line => `${formatJson(line)}\n`).join(''));
}

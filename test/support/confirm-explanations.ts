import { sql } from 'kysely';
import { explainRow, type Explanation, groupVersions } from '../../src/query/history/explanation.js';
import { measureFile as inspect } from '../../src/cli/certificate-files.js';
import { findRowVersions } from '../../src/cli/find-rows.js';
import type { Reader } from '../../src/store/contract/reader.js';
import { getIdColumn } from '../../src/resources/entry.js';
import { ENTRY_BY_RESOURCE } from '../../src/resources/resources.js';
import { findContradictedColumns } from '../../src/sync/derived-columns.js';
import { pick, type Random } from './random.js';
import type { Program } from './program.js';
import { relation } from '../../src/query/lists/relation.js';

const PATHS: Readonly<Record<string, RegExp>> = {
  warehouse: /\/warehouse\/inventory$/,
  inventory: /\/inventory$/,
  reservations: /\/reservations/,
  inventory_requests: /\/inventory\/requests/,
  retirements: /\/retirements/,
  members: /\/members$/,
  addresses: /\/addresses$/,
  organization: /\/organizations\/[^/]+$/,
  certificates: /\/pdf$/,
};

interface SampleOptions {
  readonly random: Random;
  readonly times: number;
  /** How far the clock was set back meanwhile. */
  readonly leewayMs: number;
}

/** Explains random rows, and returns what the registry's own log of calls and deliveries does not confirm. */
export async function findUnconfirmedExplanations(
  program: Program,
  { random, times, leewayMs }: SampleOptions,
): Promise<string[]> {
  const { engine, time } = program;
  const reader = await engine.openReader();
  const open = await engine.openPdfs(time.now);
  const at = new Date(time.now()).toISOString();
  const misfits: string[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const resource = pick(random, Object.keys(PATHS)) ?? '';
    for (const each of await explainRandomRow(
      reader,
      { at, inspect: file => inspect(open.pdfs, file), contradicted: findContradictedColumns },
      resource,
      random,
    )) {
      misfits.push(...checkExplanation(program, resource, each, leewayMs));
    }
  }
  await open.close();
  await reader.close();
  return misfits;
}

type ExplainContext = Omit<Parameters<typeof explainRow>[0], 'reader'>;

async function explainRandomRow(
  reader: Reader,
  context: ExplainContext,
  resource: string,
  random: Random,
): Promise<Explanation[]> {
  const entry = Object.entries(ENTRY_BY_RESOURCE).find(([name]) => name === resource)?.[1];
  if (entry === undefined) throw new Error(`no resource ${resource}`);
  const rows = await reader.all(sql<Record<string, string>>`SELECT * FROM ${relation(entry.table)}
    WHERE sync_id IS NOT NULL`);
  const row = pick(random, rows);
  if (row === undefined) return [];
  const found = await findRowVersions(reader, entry, String(row[getIdColumn(entry)]), null);
  return await Promise.all(
    groupVersions(entry, found).map(versions => explainRow({ reader, ...context }, entry, versions)),
  );
}

function checkExplanation(
  { registry }: Program,
  resource: string,
  explanation: Explanation,
  leewayMs: number,
): string[] {
  const { table, id, row, shown_by: sync, organization_id: owner } = explanation;
  if (row === null) return [];
  const name = `${table} ${id}`;
  if (sync === null || sync.job_id === null) return [`${name}: no run or job`];
  const from = Date.parse(sync.started_at) - leewayMs;
  const to = Date.parse(sync.finished_at ?? sync.started_at) + leewayMs;
  const isDuringSync = (at: unknown) => Date.parse(String(at)) >= from && Date.parse(String(at)) <= to;
  const misfits = isDuringSync(row['valid_from'])
    ? []
    : [`${name}: shown at ${String(row['valid_from'])}, not by ${sync.id}`];
  const calls = registry.calls.list({ appId: null, installationId: null, limit: 10_000 });
  const hasCall = calls.some(
    ({ at, path, status }) =>
      status === 200 &&
      (path.includes(String(owner)) || resource === 'certificates') &&
      PATHS[resource]?.test(path.split('?')[0] ?? '') === true &&
      isDuringSync(at),
  );
  if (!hasCall) misfits.push(`${name}: no such call between ${sync.started_at} and ${sync.finished_at}`);
  if (sync.delivery === null) return misfits;
  const { event, received_at: receivedAt } = sync.delivery;
  const sentBy = Date.parse(receivedAt) + leewayMs;
  const wasSent = registry.deliveries
    .list(1000)
    .some(each => each.event === event && Date.parse(each.createdAt) <= sentBy);
  return wasSent ? misfits : [...misfits, `${name}: no delivery ${event} was sent by ${receivedAt}`];
}

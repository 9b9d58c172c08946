import { setImmediate as pause } from 'node:timers/promises';
import { ASK_AT_MOST, judge, type Verdict } from './closing.js';
import type { Fault } from './books.js';
import type { ListParts } from './parts.js';
import { VersionSet } from './version-set.js';

const SCAN = 2_000;

/** Rows that are there and that a whole read did not find, with the ids of the first of them. */
export interface Missing {
  readonly versions: VersionSet;
  readonly ids: readonly string[];
}

/** What becomes of the missing rows. */
export interface Decision {
  readonly state: 'complete' | 'partial' | 'doubtful';
  readonly fault: Fault | null;
  readonly close: VersionSet;
  /** Rows that a second read must miss too; null forgets an earlier doubt, undefined leaves it. */
  readonly doubt: VersionSet | null | undefined;
  readonly readAgain: boolean;
}

export interface Circumstances {
  readonly before: number;
  readonly isSnapshot: boolean;
  readonly isQuiet: boolean;
  readonly doubted: VersionSet;
  readonly doubtedForMs: number | null;
  readonly ask: ((ids: readonly string[]) => Promise<readonly string[]>) | undefined;
}

export const NONE = new VersionSet();

export async function findMissing<Item>(
  { rows, request }: ListParts<Item>,
  seen: VersionSet,
): Promise<Missing> {
  const versions = new VersionSet();
  const ids: string[] = [];
  let last: readonly string[] | null = null;
  for (;;) {
    const places = rows.after(request.organizationId, last, SCAN);
    for (const { version, key } of places) {
      if (seen.has(version)) continue;
      versions.add(version);
      if (ids.length < ASK_AT_MOST) ids.push(key[0] ?? request.organizationId);
    }
    last = places.at(-1)?.key ?? null;
    if (places.length < SCAN || last === null) return { versions, ids };
    await pause();
  }
}

/** Asks for missing rows by their ids where that is possible, and judges. */
export async function decide<Item>(
  parts: ListParts<Item>,
  missing: Missing,
  circumstances: Circumstances,
): Promise<Decision> {
  const { ask } = circumstances;
  const gone = ask === undefined ? null : new Set(await ask(missing.ids));
  const alive = gone === null ? [] : missing.ids.filter(id => !gone.has(id));
  const verdict = judge({
    ...circumstances,
    missing: missing.versions.size,
    asked: gone === null ? 0 : missing.ids.length,
    alive: alive.length,
  });
  return decisionOf(verdict, missing.versions, versionsOf(parts, alive), circumstances);
}

function decisionOf(
  verdict: Verdict,
  missing: VersionSet,
  alive: VersionSet,
  { doubted, isQuiet }: Circumstances,
): Decision {
  if (verdict === 'close') {
    const close = without(missing, alive);
    if (alive.size === 0 || isQuiet) return { ...COMPLETE, close };
    return { ...COMPLETE, state: 'partial', fault: fault('rows_moved', alive.size), close, readAgain: true };
  }
  if (verdict === 'keep') {
    return { ...COMPLETE, state: 'partial', fault: fault('rows_missing', missing.size), readAgain: true };
  }
  const left = verdict === 'close_doubted' ? without(missing, doubted) : missing;
  const close = verdict === 'close_doubted' ? without(missing, left) : NONE;
  if (left.size === 0) return { ...COMPLETE, close };
  const doubt = verdict === 'wait' ? undefined : left;
  return { ...COMPLETE, state: 'doubtful', fault: fault('mostly_gone', left.size), close, doubt };
}

/** Inside a transaction. */
export function closeRows<Item>(
  { rows, companion, run, request }: ListParts<Item>,
  versions: Iterable<number>,
  runId: number,
): number {
  let removed = 0;
  companion.begin();
  for (const version of versions) {
    companion.leave(version);
    companion.vanish(version, run.stamp, runId);
    if (rows.close(version, run.stamp, runId)) removed += 1;
  }
  companion.flush(request.organizationId);
  return removed;
}

export const COMPLETE: Decision = {
  state: 'complete',
  fault: null,
  close: NONE,
  doubt: null,
  readAgain: false,
};

const WORDS = {
  rows_moved: 'missing from the list, but still there when asked for by id',
  rows_missing: 'missing from a list that moved while it was read',
  mostly_gone: 'missing: more than half of the list. A second read must agree before they are closed',
} as const;

function fault(code: keyof typeof WORDS, rows: number): Fault {
  return { code, message: `${rows} rows are ${WORDS[code]}` };
}

function without(versions: VersionSet, left: VersionSet): VersionSet {
  if (left.size === 0) return versions;
  const rest = new VersionSet();
  for (const version of versions.values()) if (!left.has(version)) rest.add(version);
  return rest;
}

function versionsOf<Item>({ rows, request }: ListParts<Item>, ids: readonly string[]): VersionSet {
  const versions = new VersionSet();
  const keys = ids.map(id => [id]);
  for (const { version } of rows.find(request.organizationId, keys).values()) versions.add(version);
  return versions;
}

import { AGREE_AFTER_MS, ASK_AT_MOST, type Evidence, judge, type Judgement } from './closing.js';
import type { FindMissing } from '../mirror.js';
import type { ReadFault, ListRef, MirrorPort } from '../port.js';
import { VersionSet } from './version-set.js';

const SCAN = 2_000;

/** Rows that are there and that a whole read did not find, and the versions of the first of them by their ids. */
export interface Missing {
  readonly versions: VersionSet;
  readonly first: ReadonlyMap<string, number>;
}

/** What becomes of the missing rows. */
export interface Decision {
  readonly state: 'complete' | 'partial' | 'removals_unconfirmed';
  readonly fault: ReadFault | null;
  readonly close: VersionSet;
  /** When the registry said of a row that it is gone; the others are gone since the end of the read. */
  readonly goneAt: ReadonlyMap<number, number>;
  /** Rows that a second read must miss too; null forgets an earlier doubt, undefined leaves it. */
  readonly doubt: VersionSet | null | undefined;
  readonly readAgain: boolean;
}

export interface Circumstances
  extends Pick<Evidence, 'before' | 'seen' | 'isSnapshot' | 'isQuiet' | 'endsByNature' | 'doubtedForMs'> {
  readonly doubted: VersionSet;
  readonly ask: FindMissing | undefined;
}

export const NONE = new VersionSet();

export async function findMissing(port: MirrorPort, list: ListRef, seen: VersionSet): Promise<Missing> {
  const versions = new VersionSet();
  const first = new Map<string, number>();
  let last: readonly string[] | null = null;
  for (;;) {
    const places = await port.listRowsAfter(list, last, SCAN);
    for (const { version, key } of places) {
      if (seen.has(version)) continue;
      versions.add(version);
      if (first.size < ASK_AT_MOST) first.set(key[0] ?? list.organizationId, version);
    }
    last = places.at(-1)?.key ?? null;
    if (places.length < SCAN || last === null) return { versions, first };
  }
}

/** Asks for missing rows by their ids where that is possible, and judges. */
export async function decide(missing: Missing, circumstances: Circumstances): Promise<Decision> {
  const { ask } = circumstances;
  const gone = ask === undefined ? null : await ask([...missing.first.keys()]);
  const alive = new VersionSet();
  const goneAt = new Map<number, number>();
  for (const [id, version] of gone === null ? [] : missing.first) {
    const at = gone?.get(id);
    if (at === undefined) alive.add(version);
    else goneAt.set(version, at);
  }
  const judgement = judge({
    ...circumstances,
    missing: missing.versions.size,
    asked: alive.size + goneAt.size,
    alive: alive.size,
  });
  return { ...decisionOf(judgement, missing.versions, alive, circumstances), goneAt };
}

function decisionOf(
  judgement: Judgement,
  missing: VersionSet,
  alive: VersionSet,
  { doubted, isQuiet }: Circumstances,
): Decision {
  if (judgement === 'close') {
    const close = without(missing, alive);
    if (alive.size === 0 || isQuiet) return { ...COMPLETE, close };
    return { ...COMPLETE, state: 'partial', fault: fault('rows_moved', alive.size), close, readAgain: true };
  }
  if (judgement === 'keep') {
    return { ...COMPLETE, state: 'partial', fault: fault('rows_missing', missing.size), readAgain: true };
  }
  const left = judgement === 'close_doubted' ? without(missing, doubted) : missing;
  const close = judgement === 'close_doubted' ? without(missing, left) : NONE;
  if (left.size === 0) return { ...COMPLETE, close };
  const doubt = judgement === 'wait' ? undefined : left;
  return { ...COMPLETE, state: 'removals_unconfirmed', fault: fault('mostly_gone', left.size), close, doubt };
}

export const COMPLETE: Decision = {
  state: 'complete',
  fault: null,
  close: NONE,
  goneAt: new Map(),
  doubt: null,
  readAgain: false,
};

/** Nothing is closed, and an earlier doubt stays. */
export function partial(why: ReadFault): Decision {
  return { ...COMPLETE, state: 'partial', fault: why, doubt: undefined };
}

/** Nothing is closed, because unreadable rows may be missing ones. */
export function unconfirmed({ versions }: Missing, unreadable: ReadFault | null): Decision {
  const rows = `${versions.size} rows are missing and may be among them`;
  const why = unreadable ?? { code: 'rows_unreadable', message: 'rows could not be read' };
  return {
    ...COMPLETE,
    state: 'removals_unconfirmed',
    fault: { ...why, message: `${why.message}; ${rows}` },
    doubt: versions,
  };
}

const WORDS = {
  rows_moved: 'missing from the list, but still there when asked for by id',
  rows_missing: 'missing from a list that moved while it was read',
  mostly_gone: `missing: the whole list or more than half of it. A second read must agree before they are closed, ${AGREE_AFTER_MS / 1000} s after the first that missed them at the earliest`,
} as const;

function fault(code: keyof typeof WORDS, rows: number): ReadFault {
  return { code, message: `${rows} rows are ${WORDS[code]}` };
}

function without(versions: VersionSet, left: VersionSet): VersionSet {
  if (left.size === 0) return versions;
  const rest = new VersionSet();
  for (const version of versions.values()) if (!left.has(version)) rest.add(version);
  return rest;
}

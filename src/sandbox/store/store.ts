import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type CreditAccounts, createCreditAccounts } from './credit-accounts.js';
import { type SandboxClock, createSandboxClock, toInstant } from './clock.js';
import { openJournal } from './journal.js';
import { createRegistryTables, type RegistryTables } from './tables.js';

/**
 * The data of the registry in memory, with its clock and its source of ids.
 *
 * Every change is made by an operation. An operation is atomic: if it throws, its changes are undone. Its name, its
 * arguments, its time and the random values that it drew are a line of the journal, so that a start can replay it with
 * the same result. Nothing may change the tables outside of an operation, or the change is lost at the next start.
 */
export interface SandboxStore {
  readonly tables: RegistryTables;
  /** The path of the journal. */
  readonly file: string;
  readonly clock: SandboxClock;
  readonly accounts: CreditAccounts;
  /** Returns the wall clock's time. During an operation it stays at the operation's start, even in a replay. */
  readonly wallClock: () => number;
  /** Returns the sandbox clock's time as text. */
  readonly now: () => string;
  /** Returns a random UUID. In a replay, returns the recorded UUID. */
  readonly newId: () => string;
  /** Returns `0x` and random hexadecimal digits. In a replay, returns the recorded digits. */
  readonly newHash: (digits: number) => string;
  readonly defineOperation: DefineOperation;
  /** Expires all reservations whose expiry time has passed, as an operation of its own. */
  readonly expireDueReservations: () => void;
  /**
   * Replays the journal once all operations are defined. For the operations in `maxLinesByOperation`, only that many of
   * the latest lines are replayed and kept in the file.
   */
  readonly replayJournal: (maxLinesByOperation: Readonly<Record<string, number>>) => void;
  readonly isOpen: () => boolean;
  /** Closes the journal. The store must not be used afterwards. */
  readonly close: () => void;
}

/** Turns a function into an atomic operation that the journal records. A nested call belongs to the outer operation. */
type DefineOperation = <Args extends readonly unknown[], Result>(
  name: string,
  action: (...args: Args) => Result,
) => (...args: Args) => Result;

/** A line of the journal, parsed. */
type JournalEntry<Args> = readonly [
  operation: string,
  args: Args,
  startedAt: number,
  randomValues: readonly string[],
];

/** The operation that is being run or replayed. */
interface RunningOperation {
  /** When the operation started, by the wall clock. */
  readonly startedAt: number;
  /** Makes and records a random value. In a replay, returns the recorded value. */
  readonly drawRandomValue: (make: () => string) => string;
  /** Functions that undo the changes made so far. They must be run in reverse order. */
  readonly undoSteps: (() => void)[];
}

export interface SandboxStoreOptions {
  readonly folder: string;
  readonly wallClock: () => number;
}

/** Opens the sandbox's journal and creates empty tables. Call `replayJournal` afterwards to fill the tables. */
export function openSandboxStore({ folder, wallClock: realWallClock }: SandboxStoreOptions): SandboxStore {
  const file = join(folder, 'sandbox.journal');
  if (!existsSync(file) && existsSync(join(folder, 'sandbox.db')))
    throw new Error(`${folder} holds the sandbox of an earlier version: move it away`);
  const journal = openJournal(file);
  const replayByOperation = new Map<string, (line: string) => void>();
  let running: RunningOperation | null = null;
  let isOpen = true;
  const tables = createRegistryTables(undo => running?.undoSteps.push(undo));
  const accounts = createCreditAccounts(tables);
  const wallClock = () => running?.startedAt ?? realWallClock();
  const setClock = defineOperation('clock', (value: object) => {
    const movedAt = now();
    tables.settings.put({ name: 'clock', value });
    accounts.expireDueReservations(now(), movedAt);
  });
  const clock = createSandboxClock(
    { read: () => tables.settings.get('clock')?.value, write: setClock },
    wallClock,
  );
  // Does nothing itself: every operation begins by expiring due reservations.
  const expireReservations = defineOperation('end reservations', () => undefined);

  /** Returns the sandbox clock's time as ISO 8601 text. */
  function now(): string {
    return toInstant(clock.now());
  }

  /** Returns a random value that `make` creates and the journal records. In a replay, returns the recorded value. */
  function drawRandomValue(make: () => string): string {
    return running === null ? make() : running.drawRandomValue(make);
  }

  /** Expires due reservations and runs an action as one atomic operation. Undoes all changes if the action throws. */
  function runOperation<Result>(operation: RunningOperation, action: () => Result): Result {
    running = operation;
    try {
      accounts.expireDueReservations(now());
      return action();
    } catch (error) {
      for (const undo of operation.undoSteps.toReversed()) undo();
      throw error;
    } finally {
      running = null;
    }
  }

  /**
   * Turns a function into an atomic operation that the journal records and can replay. A call inside another operation becomes a
   * part of that operation.
   */
  function defineOperation<Args extends readonly unknown[], Result>(
    name: string,
    action: (...args: Args) => Result,
  ) {
    replayByOperation.set(name, line => {
      const [, args, startedAt, randomValues]: JournalEntry<Args> = JSON.parse(line);
      const remaining = [...randomValues];
      const takeRecorded = () => remaining.shift() ?? '';
      runOperation({ startedAt, drawRandomValue: takeRecorded, undoSteps: [] }, () => action(...args));
    });
    return (...args: Args): Result => {
      if (running !== null) return action(...args);
      const randomValues: string[] = [];
      const startedAt = realWallClock();
      const recordRandom = (make: () => string) => {
        const value = make();
        randomValues.push(value);
        return value;
      };
      return runOperation({ startedAt, drawRandomValue: recordRandom, undoSteps: [] }, () => {
        const result = action(...args);
        journal.append(JSON.stringify([name, args, startedAt, randomValues]));
        return result;
      });
    };
  }

  /** Replays the operation in one line of the journal. Throws if the operation is unknown. */
  function replayLine(line: string): void {
    const name = readOperationName(line);
    const replay = replayByOperation.get(name);
    if (replay === undefined) throw new Error(`unknown operation "${name}"`);
    replay(line);
  }

  /**
   * Restores the tables from the journal. For each operation in `maxLinesByOperation`, replays only that many of the newest lines
   * and deletes the older ones from the file.
   */
  function replayJournal(maxLinesByOperation: Readonly<Record<string, number>>): void {
    const lines = dropOldLines(journal.lines, maxLinesByOperation);
    for (const [index, line] of lines.entries()) {
      try {
        replayLine(line);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        // The first line of the file is its header, and lines are counted from 1.
        throw new Error(`${file} cannot be replayed from line ${index + 2} on (${reason}): move it away`, {
          cause: error,
        });
      }
    }
    if (lines.length < journal.lines.length) journal.rewrite(lines);
  }

  /** Runs an operation that expires all reservations whose expiry time has passed. Does nothing if there are none. */
  function expireDueReservations(): void {
    if (accounts.hasDueReservations(now())) expireReservations();
  }

  return {
    tables,
    file,
    clock,
    accounts,
    wallClock,
    now,
    newId: () => drawRandomValue(randomUUID),
    newHash: digits => drawRandomValue(() => `0x${randomBytes(digits / 2).toString('hex')}`),
    defineOperation,
    expireDueReservations,
    replayJournal,
    isOpen: () => isOpen,
    /** Closes the journal. The store must not be used afterwards. */
    close() {
      isOpen = false;
      journal.close();
    },
  };
}

/** Returns the operation's name in a journal line: `["issue",…]` → `issue`. */
function readOperationName(line: string): string {
  // Parsing the whole line as JSON would be slow for a long journal.
  return /^\["([^"]*)"/.exec(line)?.[1] ?? '';
}

/** Returns the journal lines without the oldest lines of each operation that has more lines than `maxLinesByOperation` allows. */
function dropOldLines(
  lines: readonly string[],
  maxLinesByOperation: Readonly<Record<string, number>>,
): readonly string[] {
  const excessByOperation = new Map<string, number>();
  for (const [operation, maxLines] of Object.entries(maxLinesByOperation)) {
    const count = lines.filter(line => readOperationName(line) === operation).length;
    excessByOperation.set(operation, count - maxLines);
  }
  return lines.filter(line => {
    const operation = readOperationName(line);
    const excess = excessByOperation.get(operation) ?? 0;
    excessByOperation.set(operation, excess - 1);
    return excess <= 0;
  });
}

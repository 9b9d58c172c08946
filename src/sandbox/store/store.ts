import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Accounts, createAccounts } from './accounts.js';
import { type Clock, createClock, toInstant } from './clock.js';
import { openJournal } from './journal.js';
import { createTables, type Tables } from './tables.js';

/** What the registry knows, its clock, its accounts and its source of ids. Whatever changes them is a verb. */
export interface Store {
  readonly tables: Tables;
  readonly file: string;
  readonly clock: Clock;
  readonly accounts: Accounts;
  /** The wall clock: of the verb that is at work its own instant, when it is done again too. */
  readonly wall: () => number;
  readonly now: () => string;
  /** Drawn at random once, and the same whenever the verb is done again. */
  readonly newId: () => string;
  readonly newHash: (digits: number) => string;
  /**
   * What changes something: all of it or, where it throws, nothing. Its words are written into the journal before it
   * returns, unless it is part of another. Reservations whose time has come have ended before it begins.
   */
  readonly verb: Verb;
  readonly endExpiredReservations: () => void;
  /** Does again what the journal holds, once all verbs are there; a verb that is named keeps only its last lines. */
  readonly replay: (kept: Readonly<Record<string, number>>) => void;
  readonly isOpen: () => boolean;
  readonly close: () => void;
}

type Verb = <Words extends readonly unknown[], Result>(
  name: string,
  work: (...words: Words) => Result,
) => (...words: Words) => Result;

type Line<Words> = readonly [verb: string, words: Words, at: number, drawn: readonly string[]];

/** A verb that is at work. */
interface Work {
  readonly at: number;
  readonly draw: (make: () => string) => string;
  readonly undo: (() => void)[];
}

export interface StoreOptions {
  readonly folder: string;
  readonly wall: () => number;
}

export function openStore({ folder, wall: realWall }: StoreOptions): Store {
  const file = join(folder, 'sandbox.journal');
  if (!existsSync(file) && existsSync(join(folder, 'sandbox.db')))
    throw new Error(`${folder} holds the sandbox of an earlier version: move it away`);
  const journal = openJournal(file);
  const again = new Map<string, (line: string) => void>();
  let work: Work | null = null;
  let isOpen = true;
  const tables = createTables(undo => work?.undo.push(undo));
  const accounts = createAccounts(tables);
  const wall = () => work?.at ?? realWall();
  const setClock = verb('clock', (value: object) => {
    tables.settings.put({ name: 'clock', value });
    accounts.endExpiredReservations(now());
  });
  const clock = createClock({ read: () => tables.settings.get('clock')?.value, write: setClock }, wall);
  const endReservations = verb('end reservations', () => undefined);

  function now(): string {
    return toInstant(clock.now());
  }

  function draw(make: () => string): string {
    return work === null ? make() : work.draw(make);
  }

  function carryOut<Result>(begun: Work, action: () => Result): Result {
    work = begun;
    try {
      accounts.endExpiredReservations(now());
      return action();
    } catch (error) {
      for (const undo of begun.undo.toReversed()) undo();
      throw error;
    } finally {
      work = null;
    }
  }

  function verb<Words extends readonly unknown[], Result>(name: string, action: (...words: Words) => Result) {
    again.set(name, line => {
      const [, words, at, drawn]: Line<Words> = JSON.parse(line);
      const left = [...drawn];
      carryOut({ at, draw: () => left.shift() ?? '', undo: [] }, () => action(...words));
    });
    return (...words: Words): Result => {
      if (work !== null) return action(...words);
      const drawn: string[] = [];
      const at = realWall();
      const drawAnew = (make: () => string) => drawn[drawn.push(make()) - 1] ?? '';
      return carryOut({ at, draw: drawAnew, undo: [] }, () => {
        const result = action(...words);
        journal.append(JSON.stringify([name, words, at, drawn]));
        return result;
      });
    };
  }

  function replay(kept: Readonly<Record<string, number>>): void {
    const lines = dropOld(journal.lines, kept);
    for (const [index, line] of lines.entries()) {
      try {
        const redo = again.get(verbOf(line));
        if (redo === undefined) throw new Error(`there is no verb "${verbOf(line)}"`);
        redo(line);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`${file} cannot be done again from line ${index + 2} on (${why}): move it away`, {
          cause: error,
        });
      }
    }
    if (lines.length < journal.lines.length) journal.rewrite(lines);
  }

  return {
    tables,
    file,
    clock,
    accounts,
    wall,
    now,
    newId: () => draw(randomUUID),
    newHash: digits => draw(() => `0x${randomBytes(digits / 2).toString('hex')}`),
    verb,
    endExpiredReservations: () => accounts.hasExpiredReservations(now()) && endReservations(),
    replay,
    isOpen: () => isOpen,
    close() {
      isOpen = false;
      journal.close();
    },
  };
}

function verbOf(line: string): string {
  return /^\["([^"]*)"/.exec(line)?.[1] ?? '';
}

function dropOld(lines: readonly string[], kept: Readonly<Record<string, number>>): readonly string[] {
  const extra = new Map(
    Object.entries(kept).map(([verb, most]) => [
      verb,
      lines.filter(line => verbOf(line) === verb).length - most,
    ]),
  );
  return lines.filter(line => {
    const verb = verbOf(line);
    const left = extra.get(verb) ?? 0;
    extra.set(verb, left - 1);
    return left <= 0;
  });
}

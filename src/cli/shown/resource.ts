import { LISTS } from '../../resources/lists.js';
import type { Command } from 'commander';
import type { Reader } from '../../engines/contract/reader.js';
import type { DatedResource } from '../../query/past/as-of.js';
import type { Entry } from '../../resources/entry.js';
import type { Io } from '../io.js';
import type { Row } from '../output/output.js';
import type { Filter } from './filters.js';

export interface ListOptions {
  readonly organization?: string;
  readonly limit: string;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly verbatim?: boolean;
  readonly excel?: boolean;
  readonly out?: string;
  readonly asOf?: string;
}

/** A command that shows what is mirrored of one kind. */
export interface Resource {
  readonly description: string;
  readonly examples: readonly string[];
  readonly noun: string;
  readonly list: Entry;
  /** What a person reads of it, where that is not what stands in the table. */
  readonly columns?: readonly string[];
  readonly refine?: (row: Row) => Row;
  readonly filters?: readonly Filter[];
  /** Where a list as of an instant can be asked for. */
  readonly dated?: DatedResource;
  /** Whether one can be shown. */
  readonly hasShow?: boolean;
  readonly beside?: Beside;
  /** How one that is shown may be named beside its id. */
  readonly find?: (reader: Reader, text: string) => Promise<string>;
  /** Commands beside `list` and `show`. */
  readonly more?: (group: Command, io: Io) => void;
}

/** What a person wants to see beside one row, a table each. */
type Beside = (reader: Reader, row: Row) => Promise<Readonly<Record<string, readonly Row[]>>>;

/** Its name among the lists that are read; null where it is none. */
export function wordOf({ list: entry }: Pick<Resource, 'list'>): string | null {
  return Object.entries(LISTS).find(([, known]) => known === entry)?.[0] ?? null;
}

import type { HeldPage } from './held-page.js';
import type { Pace } from './pace.js';
import type { Insert, List, MirrorPort, RunRequest } from '../port.js';
import type { ListEntry } from '../../resources/entry.js';
import type { SyncRun } from '../sync-run.js';

/** What a read of one list works with. */
export interface ListParts<Item> {
  readonly port: MirrorPort;
  readonly request: RunRequest;
  readonly list: List;
  readonly run: SyncRun;
  readonly entry: ListEntry<Item>;
  readonly pace: Pace;
  readonly now: () => number;
}

/** Differences on their way to the mirror: what to insert, and which insert each of them comes down to. */
export interface Slice {
  readonly inserts: readonly Insert[];
  readonly projects: readonly string[];
  readonly entries: readonly {
    readonly name: string;
    readonly insert: number;
    readonly page: HeldPage | null;
    readonly slot: number;
  }[];
}

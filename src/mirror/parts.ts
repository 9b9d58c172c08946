import type { Books, RunRequest } from './books.js';
import type { Pages } from './pages.js';
import type { Descriptor } from './resources.js';
import type { Rows } from './rows.js';
import type { Run } from './run.js';

/** What has to change together with a table's rows, in the same transaction. */
export interface Companion<Item> {
  begin(): void;
  enter(item: Item): void;
  /** Before a version is closed, because it changed or because it is gone. */
  leave(version: number): void;
  /** Before a version is closed for good. */
  vanish(version: number, validTo: string, runId: number): void;
  flush(organizationId: string): void;
}

/** What a read of one list works with. */
export interface ListParts<Item> {
  readonly request: RunRequest;
  readonly books: Books;
  readonly run: Run;
  readonly rows: Rows<Item>;
  readonly descriptor: Descriptor<Item>;
  readonly pages: Pages;
  readonly companion: Companion<Item>;
  readonly now: () => number;
  /** Inside a transaction: remembers that the organization's rows name this project. */
  readonly noteProject: (id: string) => void;
  /** Answers a test that is false for what must not be kept. To be asked again inside the transaction that writes. */
  readonly admits: () => (item: Item) => boolean;
  /** False for the text of an answer that must not be kept. */
  readonly mayKeep: (text: string) => boolean;
}

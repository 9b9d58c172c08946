import type { PageResult } from '../../mirror/mirror.js';
import type { Fault } from '../../mirror/port.js';
import { RegistryError } from '../../registry/errors.js';
import type { Page } from '../../registry/reading.js';
import type { ListEntry } from '../../resources/entry.js';
import type { Part, Source } from '../sources.js';
import { createOwnRows } from './own-rows.js';
import type { Step } from './step.js';

const DAY_SECONDS = 86_400;

interface Listed {
  /** Why this is not the whole list. */
  readonly flaw: Fault | null;
  /** How many rows the registry says the list has; null where it does not say. */
  readonly total: number | null;
  /** How often to read it from now on where nothing announces a change. */
  readonly everySeconds: number | null;
  /** Rows that a page was asked for in the end; null where there are no pages. */
  readonly pageSize: number | null;
}

/** What is learnt of a whole list while its parts come. */
export interface Listing<Item> {
  /** A part as it comes. */
  readonly take: (part: Part<Item>) => void;
  /** Its rows without those of others. */
  readonly own: (items: readonly Item[]) => readonly Item[];
  /** How many rows of a page were new to this read. */
  readonly see: (written: PageResult) => void;
  /** When the last part was taken. Throws where that cannot be the last. */
  readonly end: () => Listed;
}

export function createListing<Item extends object>(
  { organizationId, noted, now, client }: Step,
  { kind, nextEnd, isOpen }: Source<Item>,
  { key, every }: Pick<ListEntry<Item>, 'key' | 'every'>,
): Listing<Item> {
  const own = createOwnRows(organizationId, key);
  let last: Page<Item> | null = null;
  let seen = 0;
  let open = false;

  return {
    take: part => {
      const holdEnd = nextEnd?.(part.items, now() + (client.http.clockSkewMs() ?? 0)) ?? null;
      if (holdEnd !== null) noted.holdEnds(holdEnd);
      open ||= isOpen !== undefined && part.items.some(isOpen);
      last = part.page;
    },
    own: items => own.of(items),
    see: ({ fresh }) => {
      seen += fresh;
    },
    end: () => {
      if (kind === 'paged') demandEnd(last, seen);
      return {
        flaw: own.flaw(),
        total: last?.total ?? null,
        everySeconds: every === 'day' && !open ? DAY_SECONDS : null,
        pageSize: last?.limit ?? null,
      };
    },
  };
}

function demandEnd(last: Page<unknown> | null, seen: number): void {
  if (last !== null && (last.end === 'complete' || last.total === seen)) return;
  const came = last?.end ?? 'missing';
  throw new RegistryError('bad_answer', `the list did not end as lists do: its last page is ${came}`);
}

import type { Read } from '../../mirror/list-read.js';
import { RegistryError } from '../../registry/errors.js';
import { type ListOptions, PAGE_ROWS, type Page, type ReadOptions } from '../../registry/reading.js';
import type { Resource } from '../plan.js';
import type { StepContext } from './step.js';

export interface PageOptions<Item> {
  readonly context: StepContext;
  readonly resource: Resource;
  readonly read: Read<Item>;
  readonly list: (options: ListOptions) => AsyncIterable<Page<Item>>;
  readonly options: ReadOptions;
  /** Sees each page first; answers what of it is written. */
  readonly admit?: (items: readonly Item[]) => readonly Item[];
}

/** Write each page as it comes. Answers what the registry says the whole list holds, and the rows it allows a page. */
export async function writePages<Item>({
  context,
  resource,
  read,
  list,
  options,
  admit = items => items,
}: PageOptions<Item>): Promise<{ readonly total: number | null; readonly pageSize: number }> {
  const before = context.full ? null : await context.lastRead(resource);
  let pageSize = before?.pageSize ?? PAGE_ROWS;
  let total: number | null = null;
  let seen = 0;
  let end: Page<Item>['end'] = null;
  for await (const page of list({ ...options, limit: pageSize })) {
    const { fresh } = await read.writePage(page.number, admit(page.items), page.arrivedAt);
    seen += fresh;
    total = page.total;
    pageSize = page.limit;
    end = page.end;
    await context.turn();
  }
  if (end === 'complete' || total === seen) return { total, pageSize };
  throw new RegistryError(
    'bad_answer',
    `the list did not end as lists do: its last page is ${end ?? 'missing'}`,
  );
}

import type { Read } from '../../mirror/list-read.js';
import { RegistryError } from '../../registry/errors.js';
import type { Page } from '../../registry/reading.js';
import type { StepContext } from './step.js';

export interface PageOptions<Item> {
  readonly context: StepContext;
  readonly read: Read<Item>;
  readonly pages: AsyncIterable<Page<Item>>;
  readonly onPage?: (items: readonly Item[]) => void;
}

/** Write each page as it comes. Answers what the registry says the whole list holds. */
export async function writePages<Item>({
  context,
  read,
  pages,
  onPage,
}: PageOptions<Item>): Promise<number | null> {
  let total: number | null = null;
  let seen = 0;
  let end: Page<Item>['end'] = null;
  for await (const page of pages) {
    onPage?.(page.items);
    const { fresh } = await read.writePage(page.number, page.items, page.arrivedAt);
    seen += fresh;
    total = page.total;
    end = page.end;
    await context.turn();
  }
  if (end === 'complete' || total === seen) return total;
  throw new RegistryError(
    'bad_answer',
    `the list did not end as lists do: its last page is ${end ?? 'missing'}`,
  );
}

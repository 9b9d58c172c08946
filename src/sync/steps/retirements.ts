import { RegistryError } from '../../registry/errors.js';
import type { Retirement } from '../../registry/model.js';
import type { ReadOptions } from '../../registry/reading.js';
import { inLanes } from '../lanes.js';
import { createOwnRows } from './own.js';
import { writePages } from './pages.js';
import { readList } from './recorded.js';
import type { StepContext } from './step.js';

export async function readRetirements(context: StepContext): Promise<void> {
  const { organization, organizationId } = context;
  const { added, changed } = await readList(context, 'retirements', async (read, options) => {
    const own = createOwnRows(organizationId, (retirement: Retirement) => retirement.id);
    const listed = await writePages({
      context,
      resource: 'retirements',
      read,
      list: wish => organization.listRetirements(wish),
      options,
      admit: items => own.of(items),
    });
    return { ...listed, flaw: own.flaw(), ask: ids => findGone(context, ids, options) };
  });
  if (added + changed > 0) context.onRetired();
}

const AT_ONCE = 8;

/** A retirement is for ever: one that is missing from the list is asked for by its id before that is believed. */
async function findGone(
  { organization, now }: StepContext,
  ids: readonly string[],
  options: ReadOptions,
): Promise<ReadonlyMap<string, number>> {
  const gone = new Map<string, number>();
  await inLanes(AT_ONCE, ids, async id => {
    if (await isUnknown(organization.readRetirement(id, options))) gone.set(id, now());
  });
  return gone;
}

async function isUnknown(asked: Promise<Retirement>): Promise<boolean> {
  try {
    await asked;
    return false;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return true;
    throw error;
  }
}

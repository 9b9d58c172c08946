import { RegistryError } from '../../registry/errors.js';
import { readList } from './recorded.js';
import type { StepContext } from './step.js';

export async function readOrganization(context: StepContext): Promise<void> {
  await readList(context, 'organization', async (read, options) => {
    const organization = await context.organization.readOrganization(options);
    if (organization.id !== context.organizationId) {
      throw new RegistryError('bad_answer', 'the organization is not the one that was asked for');
    }
    await read.writeBatch([organization]);
    return { total: null };
  });
}

export async function readAddresses(context: StepContext): Promise<void> {
  await readList(context, 'addresses', async (read, options) => {
    await read.writeBatch(await context.organization.readAddresses(options));
    return { total: null };
  });
}

export async function readMembers(context: StepContext): Promise<void> {
  await readList(context, 'members', async (read, options) => {
    await read.writeBatch(await context.organization.readMembers(options));
    return { total: null };
  });
}

import { RegistryError } from '../../registry/errors.js';
import { readList } from './recorded.js';
import type { StepContext } from './step.js';

export async function readOrganization(context: StepContext): Promise<void> {
  await readList(context, 'organization', async (read, options) => {
    const organization = await context.organization.readOrganization(options);
    if (organization.id !== context.organizationId) {
      throw new RegistryError('bad_answer', 'the organization is not the one that was asked for');
    }
    await read.writeBatch([organization], context.now());
    return { total: null };
  });
}

export async function readAddresses(context: StepContext): Promise<void> {
  await readList(context, 'addresses', async (read, options) => {
    const addresses = await context.organization.readAddresses(options);
    await read.writeBatch(addresses, context.now());
    return { total: null };
  });
}

export async function readMembers(context: StepContext): Promise<void> {
  await readList(context, 'members', async (read, options) => {
    const members = await context.organization.readMembers(options);
    await read.writeBatch(members, context.now());
    return { total: null };
  });
}

import type { Resource } from '../plan.js';
import { readAddresses, readMembers, readOrganization } from './organization.js';
import { readProjects } from './projects.js';
import { readRetirements } from './retirements.js';
import type { StepContext } from './step.js';
import { readInventory, readInventoryRequests, readReservations, readWarehouse } from './warehouse.js';

const STEPS: Readonly<Record<Resource, (context: StepContext) => Promise<void>>> = {
  warehouse: readWarehouse,
  reservations: readReservations,
  inventory: readInventory,
  inventory_requests: readInventoryRequests,
  organization: readOrganization,
  addresses: readAddresses,
  members: readMembers,
  retirements: readRetirements,
  projects: readProjects,
};

export async function readResource(resource: Resource, context: StepContext): Promise<void> {
  await STEPS[resource](context);
}

import type { Credit } from '../../../registry/model.js';
import { command } from '../../command.js';
import { confirm } from '../../confirm.js';
import { findInstalled } from '../../named/live.js';
import type { Row } from '../../output/output.js';
import { THE_ORGANIZATION, YES } from '../../taken.js';
import { lookAgain } from './reach-organization.js';

const COLUMNS = ['credit_id', 'amount_exact', 'project_name', 'vintage', 'serialization'];

export const FRIENDBOT = command({
  says: "Let a registry's sandbox deposit 100 test credits into an organization's inventory",
  options: { organization: THE_ORGANIZATION, yes: YES },
  prints: { json: 'print the credits as JSON' },
  examples: [
    'carbon-mirror friendbot --organization ID',
    'carbon-mirror friendbot --organization ID --yes --json',
  ],
  run: async (context, { organization, yes }) => {
    const client = await context.client();
    const { organizationId, installationId } = await findInstalled(client, organization);
    await confirm(context.io, `Deposit 100 test credits into the inventory of ${organizationId}.`, { yes });
    const credits = await client.token.friendbot(organizationId);
    await context.rows(COLUMNS, credits.map(toRow));
    await lookAgain(context.io, context.settings(), installationId);
  },
});

function toRow({ creditId, amount, project, vintage, serialization }: Credit): Row {
  return {
    credit_id: creditId,
    amount_exact: amount.exact,
    project_name: project?.fullName,
    vintage,
    serialization,
  };
}

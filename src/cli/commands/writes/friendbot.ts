import type { Command } from 'commander';
import type { Credit } from '../../../registry/model.js';
import { examples } from '../../command.js';
import { confirm } from '../../confirm.js';
import { connect } from '../../place/connect.js';
import type { Io } from '../../io.js';
import { HOW_NAMED } from '../../named/how-named.js';
import { findInstalled } from '../../named/live.js';
import { type Row, writeRows } from '../../output/output.js';
import { findSettings } from '../../place/find-place.js';
import { lookAgain } from './reach-organization.js';

interface FriendbotOptions {
  readonly organization: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const COLUMNS = ['credit_id', 'amount_exact', 'project_name', 'vintage', 'serialization'];

export function define(program: Command, io: Io): void {
  const command = program
    .command('friendbot')
    .description("Let a registry's sandbox deposit 100 test credits into an organization's inventory")
    .requiredOption('--organization <name>', `the organization: ${HOW_NAMED}`)
    .option('--yes', 'do it without a question')
    .option('--json', 'print the credits as JSON')
    .action((options: FriendbotOptions) => friendbot(io, options));
  examples(command, [
    'carbon-mirror friendbot --organization ID',
    'carbon-mirror friendbot --organization ID --yes --json',
  ]);
}

async function friendbot(io: Io, options: FriendbotOptions): Promise<void> {
  const place = findSettings(io);
  const client = await connect(place, io);
  const { organizationId: organization, installationId } = await findInstalled(client, options.organization);
  await confirm(io, `Deposit 100 test credits into the inventory of ${organization}.`, options);
  const credits = await client.token.friendbot(organization);
  await writeRows(io, options.json ? 'json' : 'table', COLUMNS, credits.map(toRow));
  await lookAgain(io, place, installationId);
}

function toRow({ creditId, amount, project, vintage, serialization }: Credit): Row {
  return {
    credit_id: creditId,
    amount_exact: amount.exact,
    project_name: project?.fullName,
    vintage,
    serialization,
  };
}

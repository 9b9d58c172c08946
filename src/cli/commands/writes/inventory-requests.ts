import type { Command } from 'commander';
import { examples } from '../../command.js';
import { LISTS } from '../../../resources/lists.js';
import { confirm } from '../../confirm.js';
import { type Io, print, say } from '../../io.js';
import { HOW_NAMED } from '../../named/how-named.js';
import { requestRow } from '../../shown/made-rows.js';
import { sheet } from '../../shown/sheet.js';
import { addMovementOptions, describeMovement, type MovementOptions, readMovement } from './movement.js';
import { writeValue } from '../../output/output.js';
import { findSettings } from '../../place/find-place.js';
import { findCredit } from './find-owner.js';
import { lookAgain, reachOrganization } from './reach-organization.js';
import { readPrintable } from '../../words.js';

interface CreateOptions extends MovementOptions {
  readonly organization: string;
  readonly creditId: string;
  readonly amount: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

export function defineRequest(group: Command, io: Io): void {
  const command = addMovementOptions(
    group
      .command('create')
      .description('Ask an organization to transfer or retire credits of its inventory')
      .requiredOption('--organization <name>', `whose inventory it is: ${HOW_NAMED}`)
      .requiredOption('--credit-id <id>', 'the credit, or the beginning of its id')
      .requiredOption('--amount <tonnes>', 'how much'),
  )
    .option('--yes', 'do it without a question')
    .option('--json', 'print the request as JSON')
    .action((options: CreateOptions) => create(io, options));
  examples(command, [
    'carbon-mirror inventory-requests create --organization ID --credit-id ID --amount 5 --action transfer --receiver-id ID',
    'carbon-mirror inventory-requests create --organization ID --credit-id ID --amount 5 --action retire --beneficiary "Harbour Ferries" --reason "Voluntary purposes" --yes',
  ]);
}

async function create(io: Io, options: CreateOptions): Promise<void> {
  const { receiverId: toOrganizationId, receiverAddress: toAddress, retirementData } = readMovement(options);
  const { action, amount } = options;
  const named = readPrintable('--credit-id', options.creditId);
  const place = findSettings(io);
  const { owner, organization, installationId } = await reachOrganization(io, place, options.organization);
  const creditId = await findCredit(place, LISTS.inventory, named, organization);
  const what = describeMovement(`${amount} t of ${creditId}`, options);
  await confirm(io, `Ask the administrators of ${organization}: ${what}`, options);
  const made = await owner.requestInventoryAction(action, {
    creditId,
    amount,
    toOrganizationId,
    toAddress,
    retirementData,
  });
  const row = requestRow(made);
  if (options.json) await writeValue(io, row);
  else await print(io, ...sheet({ ...row, document: null }));
  say(io, 'It waits for an administrator of the organization.');
  await lookAgain(io, place, installationId);
}

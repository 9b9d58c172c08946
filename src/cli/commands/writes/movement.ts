import { type Command, Option } from 'commander';
import type { Action } from '../../../registry/model.js';
import { ACTIONS } from '../../../registry/model.js';
import type { RetirementData } from '../../../registry/writes/requests.js';
import { CommandFault, EXIT } from '../../exit.js';
import { readId } from '../../words.js';

export interface MovementOptions {
  readonly action: Action;
  readonly receiverId?: string;
  readonly receiverAddress?: string;
  readonly reason?: string;
  readonly beneficiary?: string;
  readonly comment?: string;
}

export interface Movement {
  readonly receiverId: string | undefined;
  readonly receiverAddress: string | undefined;
  readonly retirementData: RetirementData | undefined;
}

/** What a reservation is finished with, and what a request asks for. */
export function addMovementOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--action <action>', 'what becomes of the credits').choices(ACTIONS).makeOptionMandatory(),
    )
    .option('--receiver-id <id>', 'the organization that receives them')
    .option('--receiver-address <address>', 'or its address, 0x and 40 hexadecimal digits')
    .option('--beneficiary <name>', 'for whom they are retired')
    .option('--reason <text>', 'why they are retired')
    .option('--comment <text>', 'anything else to say of the retirement');
}

/** What is missing is told before anything is asked or sent. */
export function readMovement(options: MovementOptions): Movement {
  const { action, receiverId, receiverAddress, reason, beneficiary: beneficiaryName, comment } = options;
  const faults: string[] = [];
  if (action !== 'retire' && receiverId === undefined && receiverAddress === undefined)
    faults.push('--receiver-id or --receiver-address');
  if (action !== 'transfer' && beneficiaryName === undefined) faults.push('--beneficiary');
  if (action !== 'transfer' && reason === undefined) faults.push('--reason');
  if (faults.length > 0) throw new CommandFault(EXIT.usage, `${action} needs ${faults.join(' and ')}.`);
  const foreign = foreignOptions(options);
  if (foreign.length > 0)
    throw new CommandFault(EXIT.usage, `${action} takes no ${foreign.join(' and no ')}.`);
  return {
    receiverId: receiverId === undefined ? undefined : readId('--receiver-id', receiverId),
    receiverAddress,
    retirementData: action === 'transfer' ? undefined : { reason, beneficiaryName, comment },
  };
}

/** An option that would be left out in silence is most likely a mistaken action. */
function foreignOptions(options: MovementOptions): string[] {
  const { action, receiverId, receiverAddress, reason, beneficiary, comment } = options;
  const given =
    action === 'retire' ? { '--receiver-id': receiverId, '--receiver-address': receiverAddress } : {};
  const retiring =
    action === 'transfer' ? { '--reason': reason, '--beneficiary': beneficiary, '--comment': comment } : {};
  return Object.entries({ ...given, ...retiring }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
}

/** As in `Retire 10 t of X for Ada`. */
export function describeMovement(what: string, options: MovementOptions): string {
  const to = options.receiverId ?? options.receiverAddress ?? '';
  const verbs = {
    transfer: `Transfer ${what} to ${to}`,
    retire: `Retire ${what} for ${options.beneficiary ?? ''}`,
    transfer_retire: `Transfer ${what} to ${to} and retire it for ${options.beneficiary ?? ''}`,
  };
  return `${verbs[options.action]}.`;
}

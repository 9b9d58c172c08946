import { ACTIONS } from '../../../registry/model.js';
import { usageFault } from '../../exit.js';
import { anId, choice, type Meant, needed, text } from '../../options.js';

/** What a reservation is finished with, and what a request asks for. */
export const MOVEMENT = {
  action: needed(choice('action', 'what becomes of the credits', ACTIONS)),
  receiverId: anId('--receiver-id', 'the organization that receives them'),
  receiverAddress: text('address', 'or its address, 0x and 40 hexadecimal digits'),
  beneficiary: text('name', 'for whom they are retired'),
  reason: text('text', 'why they are retired'),
  comment: text('text', 'anything else to say of the retirement'),
};

type Typed = Meant<typeof MOVEMENT>;

/** What is missing is told before anything is asked or sent, and what would be left out in silence: it is most likely a mistaken action. */
export function readMovement(typed: Typed) {
  const { action, receiverId, receiverAddress, reason, beneficiary, comment } = typed;
  const giving = { '--receiver-id': receiverId, '--receiver-address': receiverAddress };
  const retiring = { '--reason': reason, '--beneficiary': beneficiary, '--comment': comment };
  const missing = [
    ...(action !== 'retire' && given(giving).length === 0 ? ['--receiver-id or --receiver-address'] : []),
    ...(action !== 'transfer' && beneficiary === undefined ? ['--beneficiary'] : []),
    ...(action !== 'transfer' && reason === undefined ? ['--reason'] : []),
  ];
  if (missing.length > 0) throw usageFault(`${action} needs ${missing.join(' and ')}.`);
  const foreign = given({ ...(action === 'retire' && giving), ...(action === 'transfer' && retiring) });
  if (foreign.length > 0) throw usageFault(`${action} takes no ${foreign.join(' and no ')}.`);
  return {
    receiverId,
    receiverAddress,
    retirementData: action === 'transfer' ? undefined : { reason, beneficiaryName: beneficiary, comment },
  };
}

function given(options: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(options).filter(name => options[name] !== undefined);
}

/** As in `Retire 10 t of X for Ada`. */
export function describeMovement(what: string, typed: Typed): string {
  const to = typed.receiverId ?? typed.receiverAddress ?? '';
  const whom = typed.beneficiary ?? '';
  return {
    transfer: `Transfer ${what} to ${to}.`,
    retire: `Retire ${what} for ${whom}.`,
    transfer_retire: `Transfer ${what} to ${to} and retire it for ${whom}.`,
  }[typed.action];
}

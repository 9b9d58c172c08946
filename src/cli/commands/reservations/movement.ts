import { CREDIT_ACTIONS } from '../../../registry/model.js';
import { usageFault } from '../../exit.js';
import { anId, choice, type Meant, needed, optionName, text } from '../../options.js';

/** What a reservation is finished with. */
export const MOVEMENT = {
  action: needed(choice('action', 'what becomes of the credits', CREDIT_ACTIONS)),
  receiverId: anId('--receiver-id', 'the organization that receives them'),
  receiverAddress: text('address', 'or its address, 0x and 40 hexadecimal digits'),
  beneficiary: text('name', 'for whom they are retired'),
  reason: text('text', 'why they are retired'),
  comment: text('text', 'anything else to say of the retirement'),
};

type Typed = Meant<typeof MOVEMENT>;
type Words = readonly (keyof Typed)[];

const GIVING: Words = ['receiverId', 'receiverAddress'];
const RETIRING: Words = ['reason', 'beneficiary', 'comment'];
const FOREIGN: Readonly<Record<Typed['action'], Words>> = {
  transfer: RETIRING,
  retire: GIVING,
  transfer_retire: [],
};

/** What is missing is told before anything is asked or sent, and what would be left out in silence: it is most likely a mistaken action. */
export function readMovement(typed: Typed) {
  const { action, receiverId, receiverAddress, reason, beneficiary: beneficiaryName, comment } = typed;
  const given = (words: Words) => words.filter(word => typed[word] !== undefined).map(optionName);
  const missing = [
    ...(action !== 'retire' && given(GIVING).length === 0 ? ['--receiver-id or --receiver-address'] : []),
    ...(action !== 'transfer' && beneficiaryName === undefined ? ['--beneficiary'] : []),
    ...(action !== 'transfer' && reason === undefined ? ['--reason'] : []),
  ];
  if (missing.length > 0) throw usageFault(`${action} needs ${missing.join(' and ')}.`);
  const foreign = given(FOREIGN[action]);
  if (foreign.length > 0) throw usageFault(`${action} takes no ${foreign.join(' and no ')}.`);
  const retirementData = action === 'transfer' ? undefined : { reason, beneficiaryName, comment };
  return { receiverId, receiverAddress, retirementData };
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

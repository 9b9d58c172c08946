import { CREDIT_ACTIONS } from '../../../registry/model.js';
import { createUsageError } from '../../exit.js';
import {
  defineRegistryId,
  defineChoice,
  type ParsedParameters,
  makeRequired,
  toOptionName,
  defineText,
} from '../../options.js';

/** What a reservation is finished with. */
export const MOVEMENT = {
  action: makeRequired(defineChoice('action', 'what to do with the credits', CREDIT_ACTIONS)),
  receiverId: defineRegistryId('--receiver-id', 'id of the organization that receives the credits'),
  receiverAddress: defineText('address', 'or its blockchain address: 0x and 40 hexadecimal digits'),
  beneficiary: defineText('name', 'beneficiary of the retirement'),
  reason: defineText('text', 'reason for the retirement'),
  comment: defineText('text', 'comment on the retirement'),
};

type Typed = ParsedParameters<typeof MOVEMENT>;
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
  const given = (words: Words) => words.filter(word => typed[word] !== undefined).map(toOptionName);
  const missing = [
    ...(action !== 'retire' && given(GIVING).length === 0 ? ['--receiver-id or --receiver-address'] : []),
    ...(action !== 'transfer' && beneficiaryName === undefined ? ['--beneficiary'] : []),
    ...(action !== 'transfer' && reason === undefined ? ['--reason'] : []),
  ];
  if (missing.length > 0) throw createUsageError(`--action ${action} requires ${missing.join(' and ')}.`);
  const foreign = given(FOREIGN[action]);
  if (foreign.length > 0)
    throw createUsageError(`--action ${action} does not accept ${foreign.join(' or ')}.`);
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

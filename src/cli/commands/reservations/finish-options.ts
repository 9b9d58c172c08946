import { CREDIT_ACTIONS } from '../../../registry/object-models.js';
import { createUsageError } from '../../command-error.js';
import {
  defineChoice,
  defineRegistryId,
  defineText,
  makeRequired,
  type ParsedParameters,
  toOptionName,
} from '../../options.js';

/** The options of `reservations finish` that say what happens to the credits. */
export const FINISH_OPTIONS = {
  action: makeRequired(defineChoice('action', 'what to do with the credits', CREDIT_ACTIONS)),
  receiverId: defineRegistryId('--receiver-id', 'id of the organization that receives the credits'),
  receiverAddress: defineText(
    'address',
    'blockchain address of the receiver, instead of its id: 0x and 40 hexadecimal digits',
  ),
  beneficiary: defineText('name', 'beneficiary of the retirement'),
  reason: defineText('text', 'reason for the retirement'),
  comment: defineText('text', 'comment on the retirement'),
};

/** The parsed values of FINISH_OPTIONS. */
type FinishOptionValues = ParsedParameters<typeof FINISH_OPTIONS>;
type FinishOptionNames = readonly (keyof FinishOptionValues)[];

const TRANSFER_OPTIONS: FinishOptionNames = ['receiverId', 'receiverAddress'];
const RETIREMENT_OPTIONS: FinishOptionNames = ['reason', 'beneficiary', 'comment'];
/** Options that would have no effect with an action. */
const USELESS_OPTIONS: Readonly<Record<FinishOptionValues['action'], FinishOptionNames>> = {
  transfer: RETIREMENT_OPTIONS,
  retire: TRANSFER_OPTIONS,
  transfer_retire: [],
};

/** Checks the options of `reservations finish` and converts them to request fields. */
export function parseFinishOptions(values: FinishOptionValues) {
  const { action, receiverId, receiverAddress, reason, beneficiary: beneficiaryName, comment } = values;
  const findSetOptions = (names: FinishOptionNames) =>
    names.filter(name => values[name] !== undefined).map(toOptionName);
  const hasReceiver = findSetOptions(TRANSFER_OPTIONS).length > 0;
  const missing = [
    ...(action !== 'retire' && !hasReceiver ? ['--receiver-id or --receiver-address'] : []),
    ...(action !== 'transfer' && beneficiaryName === undefined ? ['--beneficiary'] : []),
    ...(action !== 'transfer' && reason === undefined ? ['--reason'] : []),
  ];
  if (missing.length > 0) throw createUsageError(`--action ${action} requires ${missing.join(' and ')}.`);
  const useless = findSetOptions(USELESS_OPTIONS[action]);
  if (useless.length > 0)
    throw createUsageError(`--action ${action} does not accept ${useless.join(' or ')}.`);
  const retirementData = action === 'transfer' ? undefined : { reason, beneficiaryName, comment };
  return { receiverId, receiverAddress, retirementData };
}

/** Describes what will happen to reserved credits: `Retire 10 t of X for Ada.` */
export function describeFinishAction(credits: string, values: FinishOptionValues): string {
  const receiver = values.receiverId ?? values.receiverAddress ?? '';
  const beneficiary = values.beneficiary ?? '';
  return {
    transfer: `Transfer ${credits} to ${receiver}.`,
    retire: `Retire ${credits} for ${beneficiary}.`,
    transfer_retire: `Transfer ${credits} to ${receiver} and retire it for ${beneficiary}.`,
  }[values.action];
}

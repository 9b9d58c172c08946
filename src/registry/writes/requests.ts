import { type AmountInput, amountText } from '../json/amount.js';
import { RegistryError } from '../errors.js';
import { isId, isPrintable } from '../model.js';

export interface RetirementData {
  readonly reason?: string | undefined;
  readonly beneficiaryName?: string | undefined;
  readonly comment?: string | undefined;
}

export interface ReserveRequest {
  readonly creditId: string;
  readonly amount: AmountInput;
}

export interface FinishRequest {
  readonly receiverId?: string | undefined;
  readonly receiverAddress?: string | undefined;
  readonly transferComment?: string | undefined;
  readonly retirementData?: RetirementData | undefined;
}

export interface InventoryActionRequest {
  readonly creditId: string;
  readonly amount: AmountInput;
  readonly toOrganizationId?: string | undefined;
  readonly toAddress?: string | undefined;
  readonly retirementData?: RetirementData | undefined;
}

export interface CreateUserAndOrganizationRequest {
  readonly user: {
    readonly email: string;
    readonly fullName?: string | undefined;
    readonly profilePicture?: string | undefined;
  };
  readonly organization: {
    readonly fullName: string;
    readonly type: string;
    readonly countryCode?: string | undefined;
  };
}

export function reserveBody({ creditId, amount }: ReserveRequest): string {
  return jsonObject({ amount: raw(amountText(amount)), creditId: printable('creditId', creditId) });
}

export function finishBody(request: FinishRequest): string {
  const { receiverId, receiverAddress, transferComment, retirementData } = request;
  return jsonObject({
    receiverId: receiverId === undefined ? undefined : id('receiverId', receiverId),
    receiverAddress,
    transferComment,
    retirementData,
  });
}

export function inventoryActionBody(request: InventoryActionRequest): string {
  const { creditId, amount, toOrganizationId, toAddress, retirementData } = request;
  return jsonObject({
    creditId: printable('creditId', creditId),
    amount: raw(amountText(amount)),
    toOrganizationId: toOrganizationId === undefined ? undefined : id('toOrganizationId', toOrganizationId),
    toAddress,
    retirementData,
  });
}

export function userAndOrganizationBody({ user, organization }: CreateUserAndOrganizationRequest): string {
  const { email, fullName, profilePicture } = user;
  const { fullName: name, type, countryCode } = organization;
  return JSON.stringify({
    user: { email, fullName, profilePicture },
    organization: { fullName: name, type, countryCode },
  });
}

/** A key that no caller's object can have. */
const RAW = Symbol('raw');

interface Raw {
  readonly [RAW]: string;
}

function raw(json: string): Raw {
  return { [RAW]: json };
}

/** `JSON.stringify` would round an amount, so the members are joined here. */
function jsonObject(members: Readonly<Record<string, string | Raw | RetirementData | undefined>>): string {
  const sent = Object.entries(members).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const json = typeof value === 'object' && RAW in value ? value[RAW] : JSON.stringify(value);
    return [`${JSON.stringify(name)}:${json}`];
  });
  return `{${sent.join(',')}}`;
}

function id(name: string, value: string): string {
  if (isId(value)) return value;
  throw new RegistryError('bad_request', `${name}: expected an id`);
}

function printable(name: string, value: string): string {
  if (isPrintable(value)) return value;
  throw new RegistryError('bad_request', `${name}: expected an id of printable text`);
}

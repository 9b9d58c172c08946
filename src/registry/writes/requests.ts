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
  return objectOf({ amount: amountText(amount), creditId: printable('creditId', creditId) });
}

export function finishBody(request: FinishRequest): string {
  const { receiverId, receiverAddress, transferComment, retirementData } = request;
  return objectOf({
    receiverId: id('receiverId', receiverId),
    ...textsOf({ receiverAddress, transferComment, retirementData }),
  });
}

export function inventoryActionBody(request: InventoryActionRequest): string {
  const { creditId, amount, toOrganizationId, toAddress, retirementData } = request;
  return objectOf({
    creditId: printable('creditId', creditId),
    amount: amountText(amount),
    toOrganizationId: id('toOrganizationId', toOrganizationId),
    ...textsOf({ toAddress, retirementData }),
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

type Texts = Readonly<Record<string, string | undefined>>;

/** Of texts of JSON: `JSON.stringify` would round an amount. What is undefined is left out. */
function objectOf(members: Texts): string {
  const sent = Object.entries(members).flatMap(([name, json]) =>
    json === undefined ? [] : `"${name}":${json}`,
  );
  return `{${sent.join(',')}}`;
}

function textsOf(members: Readonly<Record<string, unknown>>): Texts {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]));
}

function id(name: string, value: string | undefined): string | undefined {
  if (value === undefined || isId(value)) return JSON.stringify(value);
  throw new RegistryError('bad_request', `${name}: expected an id`);
}

function printable(name: string, value: string): string {
  if (isPrintable(value)) return JSON.stringify(value);
  throw new RegistryError('bad_request', `${name}: expected an id of printable text`);
}

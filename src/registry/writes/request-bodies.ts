import { type AmountInput, formatAmount } from '../json/amount.js';
import { RegistryError } from '../errors.js';
import type { OrganizationType } from '../object-models.js';
import { isId, isPrintable } from '../../text/checks.js';

/** The details of a retirement, as its certificate shows them. */
export interface RetirementData {
  /** Why the credits are retired. Required to retire. */
  readonly reason?: string | undefined;
  /** For whom the credits are retired. Required to retire. */
  readonly beneficiaryName?: string | undefined;
  /** Any text. A text that no other retirement has lets `findRetirement` find this one. */
  readonly comment?: string | undefined;
}

/** The credit to reserve, and how much of it. */
export interface ReserveRequest {
  /** The `creditId` of a credit in the warehouse. */
  readonly creditId: string;
  /** Tonnes. A text such as `'0.1'` is sent with exactly these digits. */
  readonly amount: AmountInput;
}

/** How to finish a reservation: who receives the credits, and the details if they are retired. */
export interface FinishRequest {
  /** The id of the organization that receives the credits. */
  readonly receiverId?: string | undefined;
  /** The EVM address that receives the credits, instead of `receiverId`. */
  readonly receiverAddress?: string | undefined;
  readonly transferComment?: string | undefined;
  /** Required for `retire` and `transfer_retire`. */
  readonly retirementData?: RetirementData | undefined;
}

/** Credits of the inventory to transfer or to retire, their receiver, and the details if they are retired. */
export interface InventoryActionRequest {
  /** The `creditId` of a credit in the inventory. */
  readonly creditId: string;
  /** Tonnes. A text such as `'0.1'` is sent with exactly these digits. */
  readonly amount: AmountInput;
  /** The id of the organization that receives the credits. */
  readonly toOrganizationId?: string | undefined;
  /** The EVM address that receives the credits, instead of `toOrganizationId`. */
  readonly toAddress?: string | undefined;
  /** Required for `retire` and `transfer_retire`. */
  readonly retirementData?: RetirementData | undefined;
}

/** A user to create, together with an organization of that user. */
export interface CreateUserAndOrganizationRequest {
  readonly user: {
    readonly email: string;
    readonly fullName?: string | undefined;
    readonly profilePicture?: string | undefined;
  };
  readonly organization: {
    readonly fullName: string;
    readonly type: OrganizationType;
    readonly countryCode?: string | undefined;
  };
}

/** Formats the JSON body of a request to reserve credits. */
export function formatReserveBody({ creditId, amount }: ReserveRequest): string {
  return joinMembers({ amount: formatAmount(amount), creditId: serializePrintable('creditId', creditId) });
}

/** Formats the JSON body of a request to finish a reservation. */
export function formatFinishBody(request: FinishRequest): string {
  const { receiverId, receiverAddress, transferComment, retirementData } = request;
  return joinMembers({
    receiverId: serializeId('receiverId', receiverId),
    ...serializeMembers({ receiverAddress, transferComment, retirementData }),
  });
}

/** Formats the JSON body of a request to transfer or retire inventory credits. */
export function formatInventoryActionBody(request: InventoryActionRequest): string {
  const { creditId, amount, toOrganizationId, toAddress, retirementData } = request;
  return joinMembers({
    creditId: serializePrintable('creditId', creditId),
    amount: formatAmount(amount),
    toOrganizationId: serializeId('toOrganizationId', toOrganizationId),
    ...serializeMembers({ toAddress, retirementData }),
  });
}

/** Formats the JSON body of a request to create a user and an organization. */
export function formatUserAndOrganizationBody({
  user,
  organization,
}: CreateUserAndOrganizationRequest): string {
  const { email, fullName, profilePicture } = user;
  const { fullName: organizationName, type, countryCode } = organization;
  return JSON.stringify({
    user: { email, fullName, profilePicture },
    organization: { fullName: organizationName, type, countryCode },
  });
}

/** The members of a JSON object, each already as JSON text. Undefined members are left out. */
type SerializedMembers = Readonly<Record<string, string | undefined>>;

/** Joins serialized members into a JSON object: `amount` and `1.50` → `{"amount":1.50}`. */
function joinMembers(members: SerializedMembers): string {
  // `JSON.stringify` would round an amount.
  const memberTexts = Object.entries(members).flatMap(([name, json]) =>
    json === undefined ? [] : `"${name}":${json}`,
  );
  return `{${memberTexts.join(',')}}`;
}

/** Converts each member to JSON text. */
function serializeMembers(members: Readonly<Record<string, unknown>>): SerializedMembers {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** Converts an id to JSON text, and leaves undefined as it is. Throws `bad_request` for a malformed id. */
function serializeId(fieldName: string, value: string | undefined): string | undefined {
  if (value === undefined || isId(value)) return JSON.stringify(value);
  throw new RegistryError('bad_request', `${fieldName}: expected an id`);
}

/** Converts printable text to JSON text. Throws `bad_request` for unprintable text. */
function serializePrintable(fieldName: string, value: string): string {
  if (isPrintable(value)) return JSON.stringify(value);
  throw new RegistryError('bad_request', `${fieldName}: expected an id of printable text`);
}

/** Decimal text goes out digit for digit; a number goes out as JavaScript writes it. */
export type AmountInput = string | number;

export interface RetirementData {
  readonly reason?: string;
  readonly beneficiaryName?: string;
  readonly comment?: string;
}

export interface ReserveRequest {
  readonly creditId: string;
  readonly amount: AmountInput;
}

export interface FinishRequest {
  readonly receiverId?: string;
  readonly receiverAddress?: string;
  readonly transferComment?: string;
  readonly retirementData?: RetirementData;
}

export interface InventoryActionRequest {
  readonly creditId: string;
  readonly amount: AmountInput;
  readonly toOrganizationId?: string;
  readonly toAddress?: string;
  readonly retirementData?: RetirementData;
}

export interface CreateUserAndOrganizationRequest {
  readonly user: { readonly email: string; readonly fullName?: string; readonly profilePicture?: string };
  readonly organization: { readonly fullName: string; readonly type: string; readonly countryCode?: string };
}

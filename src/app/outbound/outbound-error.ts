/** Why a request got no whole answer. */
export type OutboundErrorCode = 'address_refused' | 'unreachable' | 'timeout' | 'too_large' | 'stopped';

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundErrorCode;
  /** Whether an open connection was closed by the other side. */
  readonly isReset: boolean;

  constructor(
    code: OutboundErrorCode,
    message: string,
    { cause, isReset = false }: { readonly cause?: unknown; readonly isReset?: boolean } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.isReset = isReset;
  }
}

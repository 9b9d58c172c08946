/** key: it cannot be used. refused: what would be signed is not what was signed before, and more. */
export type EvidenceErrorCode = 'key' | 'refused';

export class EvidenceError extends Error {
  override readonly name = 'EvidenceError';
  readonly code: EvidenceErrorCode;

  constructor(code: EvidenceErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function refuse(why: string): never {
  throw new EvidenceError('refused', why);
}

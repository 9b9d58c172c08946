/** A key that cannot be used, or what would be signed and is not what was signed before, and more: told to people as it is. */
export class EvidenceError extends Error {
  override readonly name = 'EvidenceError';
}

export function refuse(why: string): never {
  throw new EvidenceError(why);
}

export function throwTimestampFault(why: string): never {
  throw new EvidenceError(`no timestamp: the answer of the authority cannot be used, because ${why}`);
}

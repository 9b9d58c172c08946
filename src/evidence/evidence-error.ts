/** Why a key cannot be used, or why the log would not be signed. Its message is shown to people as it is. */
export class EvidenceError extends Error {
  override readonly name = 'EvidenceError';
}

export function refuse(why: string): never {
  throw new EvidenceError(why);
}

export function throwTimestampFault(why: string): never {
  throw new EvidenceError(`no timestamp: the answer of the authority cannot be used, because ${why}`);
}

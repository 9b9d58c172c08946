/** An error of the evidence log that people can understand, such as a wrong key. Its message is shown as it is. */
export class EvidenceError extends Error {
  override readonly name = 'EvidenceError';
}

export function throwEvidenceError(message: string): never {
  throw new EvidenceError(message);
}

/** Throws an EvidenceError about an unusable answer of the timestamp authority. `reason` is a clause such as "it is empty". */
export function throwTimestampError(reason: string): never {
  throw new EvidenceError(`no timestamp: the answer of the authority cannot be used, because ${reason}`);
}

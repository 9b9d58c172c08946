/**
 * Thrown if a folder cannot be verified: it is malformed, incomplete or contradicts its checkpoint. Every other error means that
 * the check itself failed.
 */
export class EvidenceFault extends Error {
  override readonly name = 'EvidenceFault';
}

/** Throws an EvidenceFault with this message unless the condition about the evidence folder holds. */
export function assertFolder(condition: boolean, message: string): asserts condition {
  if (!condition) throw new EvidenceFault(message);
}

/** Thrown if the platform lacks something or computes it wrongly, so that nothing can be said about the folder. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
}

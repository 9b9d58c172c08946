/** The folder contradicts the evidence log. All other errors are failures of the platform or of the checker. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** Throws a Fault with this message unless the condition holds. */
export function assertFolder(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Fault(message);
}

/** Something that the platform cannot do or does wrong, so that nothing can be said about the folder. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
}

/** Instants are stored as UTC text with milliseconds, which sorts as time does. */
export function toInstant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * The payload of two jobs in one. `resources` narrows what a job reads, so it stays only where both have it:
 * a retry of one resource that is merged with a delivery reads them all.
 */
export function mergePayloads(left: string, right: string): string {
  const both = `json_patch(${left}, ${right})`;
  const narrow = `json_type(${left}, '$.resources') + json_type(${right}, '$.resources') IS NOT NULL`;
  return `iif(${narrow}, ${both}, json_remove(${both}, '$.resources'))`;
}

/** How one read of one resource ended; for counters. */
export interface ReadEnd {
  readonly resource: string;
  readonly state: string;
  readonly ms: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly drift: number;
}

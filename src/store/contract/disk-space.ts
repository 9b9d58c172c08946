const MIB = 1024 * 1024;

/** The disk beside what is kept of it for deliveries. */
export interface Disk {
  readonly freeBytes: number;
  readonly reserveBytes: number;
  /** The reserve is begun: nothing is read, so that what arrives can still be stored. */
  readonly paused: boolean;
  /** The reserve is nearly used up. */
  readonly full: boolean;
}

export function describeDisk({ freeBytes, reserveBytes }: Disk): string {
  const mib = (bytes: number): number => Math.floor(bytes / MIB);
  return `${mib(freeBytes)} MiB are free, ${mib(reserveBytes)} MiB are kept for deliveries (DISK_RESERVE_MB)`;
}

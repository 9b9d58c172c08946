const MIB = 1024 * 1024;

/** The free space of the disk, and how much of it is reserved for deliveries. */
export interface Disk {
  readonly freeBytes: number;
  readonly reserveBytes: number;
  /** Whether the free space is below the reserve. Then reads pause, so that deliveries can still be stored. */
  readonly paused: boolean;
  /** Whether the reserve is nearly used up. */
  readonly full: boolean;
}

export function describeDisk({ freeBytes, reserveBytes }: Disk): string {
  const toMib = (bytes: number): number => Math.floor(bytes / MIB);
  return `${toMib(freeBytes)} MiB are free, ${toMib(reserveBytes)} MiB are kept for deliveries (DISK_RESERVE_MB)`;
}

import { statfsSync } from 'node:fs';

const MIB = 1024 * 1024;
const RESERVE_AT_MOST = 1024 * MIB;
const RESERVE_SHARE = 0.05;
/** Of the reserve: below it a database could fill the disk between two looks. */
const LAST_SHARE = 0.1;

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The disk beside what is kept of it for deliveries. */
export interface Disk {
  readonly freeBytes: number;
  readonly reserveBytes: number;
  /** The reserve is begun: nothing is read, so that what arrives can still be stored. */
  readonly paused: boolean;
  /** The reserve is nearly used up. */
  readonly full: boolean;
}

/** `reserveMb` is null where the size of the disk decides. */
export function weighDisk({ freeBytes, totalBytes }: DiskSpace, reserveMb: number | null): Disk {
  const standard = Math.min(RESERVE_AT_MOST, totalBytes * RESERVE_SHARE);
  const reserveBytes = reserveMb === null ? standard : reserveMb * MIB;
  return {
    freeBytes,
    reserveBytes,
    paused: freeBytes < reserveBytes,
    full: freeBytes < reserveBytes * LAST_SHARE,
  };
}

/** What the disk of a folder has left for us. */
export function lookAtDisk(folder: string, reserveMb: number | null): Disk {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return weighDisk({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }, reserveMb);
}

export function describeDisk({ freeBytes, reserveBytes }: Disk): string {
  const mib = (bytes: number): number => Math.floor(bytes / MIB);
  return `${mib(freeBytes)} MiB are free, ${mib(reserveBytes)} MiB are kept for deliveries (DISK_RESERVE_MB)`;
}

import { statfsSync, statSync } from 'node:fs';
import type { Disk } from '../contract/disk-space.js';

const MIB = 1024 * 1024;
const RESERVE_AT_MOST = 1024 * MIB;
const RESERVE_SHARE = 0.05;
/** The share of the reserve below which the disk counts as full. It could fill up between two checks. */
const LAST_SHARE = 0.1;

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Compares free space with the reserve. A null `reserveMb` derives it from the size of the disk. */
export function assessDisk({ freeBytes, totalBytes }: DiskSpace, reserveMb: number | null): Disk {
  const standard = Math.min(RESERVE_AT_MOST, totalBytes * RESERVE_SHARE);
  const reserveBytes = reserveMb === null ? standard : reserveMb * MIB;
  return {
    freeBytes,
    reserveBytes,
    paused: freeBytes < reserveBytes,
    full: freeBytes < reserveBytes * LAST_SHARE,
  };
}

/** Measures the disk of a folder. */
export function measureDisk(folder: string, reserveMb: number | null): Disk {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return assessDisk({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }, reserveMb);
}

/** Returns the bytes of the write-ahead log of a database file; 0 if there is none. */
export function getWalSize(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

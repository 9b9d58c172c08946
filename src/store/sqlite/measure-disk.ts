import { statfsSync, statSync } from 'node:fs';
import type { Disk } from '../contract/disk-space.js';

const MIB = 1024 * 1024;
const MAX_RESERVE_BYTES = 1024 * MIB;
const RESERVE_SHARE = 0.05;
/** The share of the reserve below which the disk counts as full, because it could fill up before the next check. */
const FULL_SHARE = 0.1;

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/**
 * Compares the free space with the reserve. If less is free, reads of the registry pause. If `reserveMb` is null, the reserve is
 * 5 % of the disk, and at most 1 GiB.
 */
export function assessDisk({ freeBytes, totalBytes }: DiskSpace, reserveMb: number | null): Disk {
  const standard = Math.min(MAX_RESERVE_BYTES, totalBytes * RESERVE_SHARE);
  const reserveBytes = reserveMb === null ? standard : reserveMb * MIB;
  return {
    freeBytes,
    reserveBytes,
    paused: freeBytes < reserveBytes,
    full: freeBytes < reserveBytes * FULL_SHARE,
  };
}

/**
 * Measures the disk that contains a folder, and compares its free space with the reserve, below which reads of the registry
 * pause. If `reserveMb` is null, the reserve is 5 % of the disk, and at most 1 GiB.
 */
export function measureDisk(folder: string, reserveMb: number | null): Disk {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return assessDisk({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }, reserveMb);
}

/** Returns the bytes of the write-ahead log of a database file; 0 if there is none. */
export function getWalSize(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

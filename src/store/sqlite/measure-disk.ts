import { statfsSync, statSync } from 'node:fs';
import type { Disk } from '../contract/disk-space.js';

const MIB = 1024 * 1024;
const RESERVE_AT_MOST = 1024 * MIB;
const RESERVE_SHARE = 0.05;
/** Of the reserve: below it a database could fill the disk between two looks. */
const LAST_SHARE = 0.1;

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** `reserveMb` is null where the size of the disk decides. */
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

/** What the disk of a folder has left for us. */
export function measureDisk(folder: string, reserveMb: number | null): Disk {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return assessDisk({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }, reserveMb);
}

/** Size in bytes of the write-ahead log beside a database file. */
export function getLogSize(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

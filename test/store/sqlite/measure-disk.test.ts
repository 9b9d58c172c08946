import { expect, test } from 'vitest';
import { describeDisk } from '../../../src/store/contract/disk-space.js';
import { measureDisk, assessDisk } from '../../../src/store/sqlite/measure-disk.js';
import { temporaryFolder } from '../../support/inbox.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

test.each([
  ['1024 MiB of a large disk', 100 * GIB, null, 1024],
  ['a twentieth of a small disk', 10 * GIB, null, 512],
  ['the configured amount', 10 * GIB, 3000, 3000],
])('T21 %s is reserved for deliveries', (_what, totalBytes, reserveMb, expectedMb) => {
  const edge = expectedMb * MIB;
  const weigh = (freeBytes: number) => assessDisk({ freeBytes, totalBytes }, reserveMb);
  expect(weigh(edge)).toEqual({ freeBytes: edge, reserveBytes: edge, paused: false, full: false });
  expect(weigh(edge - 1)).toMatchObject({ paused: true, full: false });
  expect(weigh(edge / 10 - 1)).toMatchObject({ paused: true, full: true });
});

test('T21 the disk reserve can be turned off', () => {
  expect(assessDisk({ freeBytes: 0, totalBytes: GIB }, 0)).toMatchObject({ paused: false, full: false });
});

test('T21 the free space of a folder is measured and described', () => {
  const disk = measureDisk(temporaryFolder(), 2);
  expect(disk.freeBytes).toBeGreaterThan(0);
  expect(describeDisk({ ...disk, freeBytes: 1.5 * MIB })).toBe(
    '1 MiB are free, 2 MiB are kept for deliveries (DISK_RESERVE_MB)',
  );
});

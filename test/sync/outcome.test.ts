import { describe, expect, test } from 'vitest';
import { REGISTRY_ERROR_CODES, RegistryError } from '../../src/registry/errors.js';
import {
  toFailureCode,
  decideOutcome,
  describeFailure as describeError,
  endsBatch,
  type FailureCode,
  FAILURE_RULES,
  SyncError,
} from '../../src/sync/outcome.js';

const moment = { now: 1_000_000, attempts: 1, random: () => 0.5 };
const failure = (code: FailureCode, retryAfterMs: number | null = null) => ({
  code,
  message: code,
  retryAfterMs,
});

describe('the table of outcomes', () => {
  test('has a line for every code of the registry client', () => {
    for (const code of REGISTRY_ERROR_CODES) expect(FAILURE_RULES[code], code).toBeDefined();
  });

  test('says of each whether the other resources of its job are still worth asking for', () => {
    const endsJob = Object.entries(FAILURE_RULES).flatMap(([code, { reach }]) =>
      reach === 'job' ? [code] : [],
    );
    expect(endsJob).toEqual(
      'unauthorized installation_gone disk_full file_refused database_busy organization_busy shutdown disk_nearly_full cancelled access_gone claim_lost fenced not_active foreign_registry'.split(
        ' ',
      ),
    );
    for (const { reach } of Object.values(FAILURE_RULES)) expect(['resource', 'job']).toContain(reach);
  });

  test('a second read that is to agree comes a minute later at the earliest', () => {
    const outcome = decideOutcome(failure('removals_unconfirmed'), { ...moment, random: () => 0 });
    expect('at' in outcome ? outcome.at - moment.now : 0).toBeGreaterThan(60_000);
  });

  test('waits longer each time, up to 15 minutes, and the jitter spreads it', () => {
    const waits = [1, 2, 3, 10, 50].map(attempts => {
      const outcome = decideOutcome(failure('unavailable'), { ...moment, attempts });
      return 'at' in outcome ? outcome.at - moment.now : -1;
    });
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeLessThanOrEqual(15 * 60_000);
    const early = decideOutcome(failure('unavailable'), { ...moment, random: () => 0 });
    const late = decideOutcome(failure('unavailable'), { ...moment, random: () => 1 });
    expect(early).not.toEqual(late);
  });

  test('T41 waits at least as long as the registry asks for', () => {
    expect(decideOutcome(failure('rate_limited', 120_000), moment)).toEqual({ act: 'retry', at: 1_120_000 });
  });

  test('T38 a credential that stays refused is paused, and tried again ever later, 15 minutes at most', () => {
    const waits = [1, 2, 3, 4, 5, 50].map(attempts => {
      const outcome = decideOutcome(failure('unauthorized'), { ...moment, attempts, random: () => 1 });
      return outcome.act === 'pause' ? (outcome.at - moment.now) / 1000 : null;
    });
    expect(waits).toEqual([64, 128, 256, 512, 900, 900]);
  });

  test('T44 a job that was overtaken writes and retries nothing more', () => {
    expect(decideOutcome(failure('fenced'), moment)).toEqual({ act: 'give_up' });
    expect(decideOutcome(failure('claim_lost'), moment)).toEqual({ act: 'release', at: moment.now });
  });

  test('a shutdown gives the job back, to resume at once', () => {
    expect(decideOutcome(failure('shutdown'), moment)).toEqual({ act: 'release', at: moment.now });
  });

  test('what can never be right has failed at once', () => {
    expect(decideOutcome(failure('bad_request'), moment)).toEqual({ act: 'fail' });
  });
});

describe('the code of an error', () => {
  test.each([
    [new RegistryError('timeout', 'x'), 'timeout'],
    [new SyncError('shutdown'), 'shutdown'],
    [Object.assign(new Error('x'), { code: 'ENOSPC' }), 'disk_full'],
    [Object.assign(new Error('x'), { code: 'SQLITE_FULL' }), 'disk_full'],
    [Object.assign(new Error('x'), { code: 'SQLITE_BUSY_SNAPSHOT' }), 'database_busy'],
    [Object.assign(new Error('x'), { code: 'away' }), 'database_busy'],
    [Object.assign(new Error('x'), { code: 'SQLITE_IOERR_WRITE' }), 'file_refused'],
    [Object.assign(new Error('x'), { code: 'SQLITE_CONSTRAINT_UNIQUE' }), 'unexpected'],
    [Object.assign(new Error('x'), { code: 'EDQUOT' }), 'disk_full'],
    [Object.assign(new Error('x'), { code: 'SQLITE_LOCKED' }), 'database_busy'],
    [new TypeError('x'), 'unexpected'],
    ['x', 'unexpected'],
  ])('%s is %s', (error, code) => {
    expect(toFailureCode(error)).toBe(code);
  });

  test.each(['EACCES', 'EPERM', 'EROFS', 'EMFILE', 'EIO', 'SQLITE_READONLY'])('%s is file_refused', code => {
    expect(toFailureCode(Object.assign(new Error('x'), { code }))).toBe('file_refused');
  });

  test('T69 comes with its words, and with nothing that looks like a credential', () => {
    expect(describeError(new TypeError('no crs_0123456789abcdef')).message).toBe('no [masked]');
  });

  test('keeps the words and the wait of the registry', () => {
    const error = new RegistryError('rate_limited', 'slow down', { retryAfterMs: 5000 });
    expect(describeError(error)).toEqual({ code: 'rate_limited', message: 'slow down', retryAfterMs: 5000 });
  });
});

test('what one of many fails with ends a walk only where the next would fail alike', () => {
  const system = (code: string) => Object.assign(new Error(code), { code });
  for (const code of ['EACCES', 'EIO']) expect(endsBatch(system(code))).toBe(false);
  expect(endsBatch(system('ENOSPC'))).toBe(true);
  expect(endsBatch(new SyncError('shutdown'))).toBe(true);
});

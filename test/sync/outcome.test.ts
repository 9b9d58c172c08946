import { describe, expect, test } from 'vitest';
import { REGISTRY_ERROR_CODES, RegistryError } from '../../src/registry/errors.js';
import {
  toFailureCode,
  toJobEnd,
  decideOutcome,
  describeFailure,
  endsBatch,
  type FailureCode,
  FAILURE_RULES,
  SyncError,
} from '../../src/sync/outcome.js';

const ATTEMPT = { now: 1_000_000, attempts: 1, random: () => 0.5 };
const createFailure = (code: FailureCode, retryAfterMs: number | null = null) => ({
  code,
  message: code,
  retryAfterMs,
});

describe('FAILURE_RULES and decideOutcome', () => {
  test('the table has a rule for every error code of the registry client', () => {
    for (const code of REGISTRY_ERROR_CODES) expect(FAILURE_RULES[code], code).toBeDefined();
  });

  test('the table says which failures end the whole job', () => {
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

  test.each([
    ['pause', 'unauthorized foreign_registry'],
    ['fail', 'bad_request outcome_unknown'],
    ['release', 'database_busy organization_busy shutdown disk_nearly_full cancelled claim_lost'],
    ['give_up', 'access_gone fenced not_active'],
    [
      'retry',
      'rate_limited unavailable timeout bad_answer other_form too_large not_found conflict invalid forbidden duplicate_key ended stale_read certificate_empty certificate_not_pdf certificate_cut_short certificate_too_large partial removals_unconfirmed unexpected installation_gone disk_full file_refused',
    ],
  ])('the rule %s applies to the failures %s', (act, codes) => {
    const withAct = Object.entries(FAILURE_RULES).flatMap(([code, rule]) => (rule.act === act ? [code] : []));
    expect(withAct).toEqual(codes.split(' '));
  });

  test('removals are confirmed by a second read at the earliest a minute later', () => {
    const outcome = decideOutcome(createFailure('removals_unconfirmed'), { ...ATTEMPT, random: () => 0 });
    expect('at' in outcome ? outcome.at - ATTEMPT.now : 0).toBeGreaterThan(60_000);
  });

  test('T41 the retry delay grows with each attempt up to 15 minutes, with jitter', () => {
    const waits = [1, 2, 3, 10, 50].map(attempts => {
      const outcome = decideOutcome(createFailure('unavailable'), { ...ATTEMPT, attempts });
      return 'at' in outcome ? outcome.at - ATTEMPT.now : -1;
    });
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeLessThanOrEqual(15 * 60_000);
    const early = decideOutcome(createFailure('unavailable'), { ...ATTEMPT, random: () => 0 });
    const late = decideOutcome(createFailure('unavailable'), { ...ATTEMPT, random: () => 1 });
    expect(early).not.toEqual(late);
  });

  test('T41 a retry waits at least as long as the registry demands', () => {
    expect(decideOutcome(createFailure('rate_limited', 120_000), ATTEMPT)).toEqual({
      act: 'retry',
      at: 1_120_000,
    });
  });

  test('T38 a refused credential pauses the job, and is retried at growing intervals of at most 15 minutes', () => {
    const waits = [1, 2, 3, 4, 5, 50].map(attempts => {
      const outcome = decideOutcome(createFailure('unauthorized'), { ...ATTEMPT, attempts, random: () => 1 });
      return outcome.act === 'pause' ? (outcome.at - ATTEMPT.now) / 1000 : null;
    });
    expect(waits).toEqual([64, 128, 256, 512, 900, 900]);
  });

  test('T44 a job whose claim was overtaken writes and retries nothing more', () => {
    expect(decideOutcome(createFailure('fenced'), ATTEMPT)).toEqual({ act: 'give_up' });
    expect(decideOutcome(createFailure('claim_lost'), ATTEMPT)).toEqual({ act: 'release', at: ATTEMPT.now });
  });

  test('a shutdown releases the job, to resume at once', () => {
    expect(decideOutcome(createFailure('shutdown'), ATTEMPT)).toEqual({ act: 'release', at: ATTEMPT.now });
  });

  test('a job that the database interrupts is released with its error, and runs again after a second', () => {
    const busy = createFailure('database_busy');
    const outcome = decideOutcome(busy, { ...ATTEMPT, attempts: 9 });
    const error = { code: busy.code, message: busy.message };
    expect(toJobEnd(outcome, busy, ATTEMPT.now)).toEqual({ act: 'release', delayMs: 1000, error });
    const stopped = createFailure('shutdown');
    const end = toJobEnd(decideOutcome(stopped, ATTEMPT), stopped, ATTEMPT.now);
    expect(end).toEqual({ act: 'release', delayMs: 0, error: null });
  });

  test('a request that can never succeed fails at once', () => {
    expect(decideOutcome(createFailure('bad_request'), ATTEMPT)).toEqual({ act: 'fail' });
  });
});

describe('toFailureCode and describeFailure', () => {
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
  ])('the code of %s is %s', (error, code) => {
    expect(toFailureCode(error)).toBe(code);
  });

  test.each(['EACCES', 'EPERM', 'EROFS', 'EMFILE', 'EIO', 'SQLITE_READONLY'])(
    'the code of %s is file_refused',
    code => {
      expect(toFailureCode(Object.assign(new Error('x'), { code }))).toBe('file_refused');
    },
  );

  test('T69 the message is kept, with anything that looks like a credential masked', () => {
    expect(describeFailure(new TypeError('no crs_0123456789abcdef')).message).toBe('no [masked]');
  });

  test('the message and the retry delay of the registry are kept', () => {
    const error = new RegistryError('rate_limited', 'slow down', { retryAfterMs: 5000 });
    expect(describeFailure(error)).toEqual({
      code: 'rate_limited',
      message: 'slow down',
      retryAfterMs: 5000,
    });
  });
});

test('an error ends a batch only if the next request would fail the same way', () => {
  const system = (code: string) => Object.assign(new Error(code), { code });
  for (const code of ['EACCES', 'EIO']) expect(endsBatch(system(code))).toBe(false);
  expect(endsBatch(system('ENOSPC'))).toBe(true);
  expect(endsBatch(new SyncError('shutdown'))).toBe(true);
});

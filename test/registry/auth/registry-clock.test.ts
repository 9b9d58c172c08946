import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { createAppJwtSource } from '../../../src/registry/auth/app-jwt.js';
import { createRegistryClock } from '../../../src/registry/auth/registry-clock.js';
import { createBrokenModule } from '../../support/mutant.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const real = Date.parse('2026-06-01T12:00:00.000Z');

/** Creates a clock whose local time differs from the registry's, and records its corrections and refusals. */
function createClockWithSkew(skewMs: number, create = createRegistryClock) {
  const local = { now: real + skewMs };
  const corrections: number[] = [];
  const refusals: number[] = [];
  const clock = create({
    now: () => local.now,
    onCorrection: offset => corrections.push(offset),
    onRefusal: skew => refusals.push(skew),
  });
  const observe = (registryMs: number, status = 401) =>
    clock.observeResponse({ registryMs, localMs: local.now, status });
  return { local, corrections, refusals, clock, observe };
}

describe('T42 the clock', () => {
  for (const skew of [-2 * MINUTE, -1, 0, 1, 2 * MINUTE]) {
    it(`is not corrected if it is ${skew} ms off`, () => {
      const { clock, corrections, observe } = createClockWithSkew(skew);
      observe(real);
      expect(clock.now()).toBe(real + skew);
      expect(corrections).toEqual([]);
    });
  }

  for (const skew of [-HOUR, HOUR]) {
    it(`is corrected and reported once if it is ${skew} ms off`, () => {
      const { local, clock, corrections, refusals, observe } = createClockWithSkew(skew);
      for (let second = 0; second < 100; second += 1) {
        observe(real + second * 1000 - (second % 7) * 1000);
        local.now += 1000;
      }
      expect(corrections).toEqual([-skew]);
      expect(refusals).toEqual([]);
      expect(clock.now()).toBe(real + 100_000);
      expect(clock.offsetMs()).toBe(-skew);
    });
  }

  it('returns to the local time once the machine’s clock is right again', () => {
    const { local, clock, corrections, observe } = createClockWithSkew(HOUR);
    observe(real);
    local.now = real + 30_000;
    observe(real);
    expect(corrections).toEqual([-HOUR, 0]);
    expect(clock.now()).toBe(local.now);
  });

  it('makes the registry accept the next JWT right after a correction', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { clock, observe } = createClockWithSkew(HOUR);
    const appJwt = createAppJwtSource({ appId: 'app', privateKey, now: clock.now });
    expect(decodeJwt((await appJwt.get()).token).exp).toBe((real + HOUR + 7 * MINUTE) / 1000);
    observe(real);
    expect(decodeJwt((await appJwt.get()).token).exp).toBe((real + 7 * MINUTE) / 1000);
  });

  it('is not corrected after an accepted request', () => {
    const { clock, corrections, observe } = createClockWithSkew(HOUR);
    for (const status of [200, 204, 403, 404, 429, 503]) observe(real, status);
    expect(corrections).toEqual([]);
    expect(clock.offsetMs()).toBe(0);
  });

  it('is corrected at most once an hour, even if every JWT is refused', () => {
    const { local, corrections, refusals, observe } = createClockWithSkew(0);
    for (let minute = 0; minute < 180; minute += 1) {
      local.now = real + minute * MINUTE;
      observe(local.now + (minute + 3) * 5 * MINUTE);
    }
    expect(corrections).toHaveLength(3);
    expect(refusals).toHaveLength(3);
  });

  for (const skew of [-25 * HOUR, 25 * HOUR, 365 * 24 * HOUR]) {
    it(`is not corrected by ${skew / HOUR} hours, which is reported once an hour`, () => {
      const { local, clock, corrections, refusals, observe } = createClockWithSkew(skew);
      for (let second = 0; second < 100; second += 1) observe(real);
      expect(refusals).toEqual([-skew]);
      local.now += HOUR;
      observe(real + HOUR);
      expect(refusals).toHaveLength(2);
      expect(corrections).toEqual([]);
      expect(clock.offsetMs()).toBe(0);
    });
  }

  it.each([
    ['any answer', 'status !== 401 || ', '', HOUR, 200],
    ['any distance', 'Math.abs(skewMs) <= MAX_CORRECTION_MS && ', '', 365 * 24 * HOUR, 401],
    ['any number of times', 'areAnHourApart(correctedAt, localMs)', 'true', HOUR, 401],
  ])(
    'follows the Date header after %s only if its limit is removed',
    async (_, piece, broken, skew, status) => {
      const module: { createRegistryClock: typeof createRegistryClock } = await import(
        createBrokenModule(
          'registry/auth/registry-clock.js',
          piece,
          broken,
          'registry/auth/registry-clock.js',
        )
      );
      const dated = (create: typeof createRegistryClock) => {
        const { corrections, observe } = createClockWithSkew(skew, create);
        observe(real, status);
        observe(real + 3 * MINUTE, status);
        return corrections.length;
      };
      expect(dated(module.createRegistryClock)).toBeGreaterThan(dated(createRegistryClock));
    },
  );

  it('works without callbacks', () => {
    const clock = createRegistryClock({ now: () => real });
    clock.observeResponse({ status: 401, registryMs: real + HOUR, localMs: real });
    clock.observeResponse({ status: 401, registryMs: real + 48 * HOUR, localMs: real });
    expect(clock.offsetMs()).toBe(HOUR);
  });

  it('ignores a Date that is no time', () => {
    const { clock, corrections, observe } = createClockWithSkew(0);
    for (const junk of [Number.NaN, Number.POSITIVE_INFINITY]) observe(junk);
    expect(corrections).toEqual([]);
    expect(clock.now()).toBe(real);
  });
});

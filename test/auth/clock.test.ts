import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { createAppJwt } from '../../src/auth/app-jwt.js';
import { createClock } from '../../src/auth/clock.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const real = Date.parse('2026-06-01T12:00:00.000Z');

function clockThatIs(skewMs: number) {
  const local = { now: real + skewMs };
  const corrections: number[] = [];
  const clock = createClock({ now: () => local.now, onCorrection: offset => corrections.push(offset) });
  const observe = (registryMs: number) => clock.observe(registryMs, local.now);
  return { local, corrections, clock, observe };
}

describe('T42 the clock', () => {
  for (const skew of [-2 * MINUTE, -1, 0, 1, 2 * MINUTE]) {
    it(`is left alone when it is ${skew} ms off`, () => {
      const { clock, corrections, observe } = clockThatIs(skew);
      observe(real);
      expect(clock.now()).toBe(real + skew);
      expect(corrections).toEqual([]);
    });
  }

  for (const skew of [-HOUR, HOUR]) {
    it(`is corrected once and reported once when it is ${skew} ms off`, () => {
      const { local, clock, corrections, observe } = clockThatIs(skew);
      for (let second = 0; second < 100; second += 1) {
        observe(real + second * 1000 - (second % 7) * 1000);
        local.now += 1000;
      }
      expect(corrections).toEqual([-skew]);
      expect(clock.now()).toBe(real + 100_000);
      expect(clock.offsetMs()).toBe(-skew);
    });
  }

  it('is set free again when the machine has been put right', () => {
    const { local, clock, corrections, observe } = clockThatIs(HOUR);
    observe(real);
    local.now = real + 30_000;
    observe(real);
    expect(corrections).toEqual([-HOUR, 0]);
    expect(clock.now()).toBe(local.now);
  });

  it('makes the next JWT one that the registry accepts, although the last was signed a moment ago', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { clock, observe } = clockThatIs(HOUR);
    const appJwt = createAppJwt({ appId: 'app', privateKey, now: clock.now });
    expect(decodeJwt((await appJwt.get()).token).exp).toBe((real + HOUR + 7 * MINUTE) / 1000);
    observe(real);
    expect(decodeJwt((await appJwt.get()).token).exp).toBe((real + 7 * MINUTE) / 1000);
  });

  it('ignores what is no time', () => {
    const { clock, corrections } = clockThatIs(0);
    for (const junk of [Number.NaN, Number.POSITIVE_INFINITY]) clock.observe(junk, real);
    expect(corrections).toEqual([]);
    expect(clock.now()).toBe(real);
  });
});

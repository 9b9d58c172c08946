import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { createAppJwtSource } from '../../../src/registry/auth/app-jwt.js';
import { MAX_UNCORRECTED_SKEW_MS } from '../../../src/registry/auth/registry-clock.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const appId = '5f9c2f0e-0f0c-4c7e-9d0b-3a3f6a1d2c11';
const start = Date.parse('2026-03-29T00:59:30.750Z');
const MINUTE = 60_000;

async function readClaims(jwt: string, nowMs: number): Promise<Record<string, unknown>> {
  const { payload } = await jwtVerify(
    jwt,
    createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
    {
      algorithms: ['RS256'],
      currentDate: new Date(nowMs),
    },
  );
  return payload;
}

describe('the app JWT', () => {
  it('is signed with RS256 and verifies with the public key', async () => {
    const { token: jwt } = await createAppJwtSource({ appId, privateKey, now: () => start }).get();
    expect(decodeProtectedHeader(jwt)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(await readClaims(jwt, start)).toEqual({
      alg: 'RS256',
      iss: appId,
      iat: Math.floor(start / 1000) - 60,
      exp: Math.floor(start / 1000) + 7 * 60,
    });
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    await expect(jwtVerify(jwt, other)).rejects.toThrow('signature');
  });

  it('is shared by simultaneous calls and reused while it is young', async () => {
    let now = start;
    const appJwt = createAppJwtSource({ appId, privateKey, now: () => now });
    const get = async () => (await appJwt.get()).token;
    const [first, second] = await Promise.all([get(), get()]);
    now += 3 * MINUTE;
    expect([second, await get()]).toEqual([first, first]);
    now += MINUTE;
    expect(await get()).not.toBe(first);
  });

  it('is signed again if the clock steps back to before its iat', async () => {
    let now = start;
    const appJwt = createAppJwtSource({ appId, privateKey, now: () => now });
    const get = async () => (await appJwt.get()).token;
    const first = await get();
    now -= 60_000;
    expect(await get()).toBe(first);
    now -= 1000;
    expect(await get()).not.toBe(first);
  });

  it('is signed again after a refusal, but not after the late refusal of an older one', async () => {
    let now = start;
    const appJwt = createAppJwtSource({ appId, privateKey, now: () => now });
    const first = await appJwt.get();
    expect([first.fresh, (await appJwt.get()).fresh]).toEqual([true, false]);
    now += 1000;
    appJwt.discard(first.token);
    const second = await appJwt.get();
    appJwt.discard(first.token);
    expect([second.fresh, second.token === first.token]).toEqual([true, false]);
    expect(await appJwt.get()).toEqual({ token: second.token, fresh: false });
    const unused = createAppJwtSource({ appId, privateKey, now: () => now });
    unused.discard(first.token);
    expect((await unused.get()).fresh).toBe(true);
  });

  it('is refused with an app id that is too long for a header', async () => {
    const appJwt = createAppJwtSource({ appId: 'a'.repeat(8192), privateKey, now: () => start });
    const refusal = { code: 'bad_request', message: 'The app id is too long for a JWT' };
    await expect(appJwt.get()).rejects.toThrow(expect.objectContaining(refusal));
  });

  for (const skew of [-MAX_UNCORRECTED_SKEW_MS, 0, MAX_UNCORRECTED_SKEW_MS]) {
    it(`T42 is accepted by the registry throughout its use with a clock ${skew} ms off`, async () => {
      let real = start;
      const appJwt = createAppJwtSource({ appId, privateKey, now: () => real + skew });
      const get = async () => (await appJwt.get()).token;
      for (let second = 0; second < 15 * 60; second += 10) {
        real = start + second * 1000;
        const { exp } = await readClaims(await get(), real);
        expect(Number(exp) * 1000).toBeGreaterThan(real + MINUTE / 2);
        expect(Number(exp) * 1000).toBeLessThanOrEqual(real + 10 * MINUTE);
      }
    });
  }
});

import { describe, expect, it } from 'vitest';
import { type AccessTokens, createAccessTokens } from '../../../src/registry/auth/access-tokens.js';
import {
  type AccessToken,
  type AppToken,
  type InstallationToken,
  isCredential,
} from '../../../src/registry/http/credential.js';
import { RegistryError } from '../../../src/registry/errors.js';
import type { Permissions } from '../../../src/registry/object-models.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const start = Date.parse('2026-06-01T12:00:00.000Z');
const read: Permissions = { organization_info: 'VIEW' };
const write: Permissions = { organization_info: 'VIEW', organization_warehouse: 'WRITE' };

/** A registry that issues tokens. Tests change what it answers. */
interface FakeRegistry {
  now: number;
  lifetimeMs: number;
  permissions: Permissions | null;
  readonly tokenRequests: string[];
  answer: Partial<AccessToken<InstallationToken>>;
  fault: Error | undefined;
  hold(): void;
  release(): void;
}

/** Creates a registry that issues numbered tokens, and a client's tokens. `hold` delays its answers until `release`. */
function createFakeRegistry() {
  let minted = 0;
  let waiting: (() => void)[] | undefined;
  const registry: FakeRegistry = {
    now: start,
    lifetimeMs: 2 * HOUR,
    permissions: read,
    tokenRequests: [],
    answer: {},
    fault: undefined,
    hold: () => {
      waiting = [];
    },
    release: () => {
      for (const go of waiting ?? []) go();
      waiting = undefined;
    },
  };

  async function createToken(owner: string) {
    registry.tokenRequests.push(owner);
    minted += 1;
    const token = `token-${minted}`;
    const { permissions } = registry;
    const held = waiting;
    if (held !== undefined) await new Promise<void>(go => held.push(go));
    if (registry.fault !== undefined) throw registry.fault;
    const expiresAt = new Date(registry.now + registry.lifetimeMs).toISOString();
    return { token, expiresAt, permissions, installationId: null, organizationId: null };
  }

  const tokens = createAccessTokens({
    now: () => registry.now,
    issuer: {
      async createAppToken(): Promise<AccessToken<AppToken>> {
        const { token, ...rest } = await createToken('app');
        if (!isCredential<AppToken>(token)) throw new Error('not a token');
        return { ...rest, token };
      },
      async createInstallationToken(installationId): Promise<AccessToken<InstallationToken>> {
        const { token, ...rest } = await createToken(installationId);
        if (!isCredential<InstallationToken>(token)) throw new Error('not a token');
        return { ...rest, token, ...registry.answer };
      },
    },
  });
  return { registry, tokens };
}

async function getToken(tokens: AccessTokens, installationId: string): Promise<string> {
  return (await tokens.installation(installationId).get()).token;
}

describe('an installation token', () => {
  it('T43 is requested once per installation, even by 50 callers at once', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.hold();
    const calls = Array.from({ length: 50 }, () => tokens.installation('a').get());
    const other = tokens.installation('b').get();
    registry.release();
    const got = await Promise.all(calls);
    expect(new Set(got.map(({ token }) => token)).size).toBe(1);
    expect(got.every(({ fresh }) => fresh)).toBe(true);
    expect((await other).token).not.toBe(got[0]?.token);
    expect(registry.tokenRequests).toEqual(['a', 'b']);
  });

  it('is reused, and is then not fresh', async () => {
    const { registry, tokens } = createFakeRegistry();
    const first = await tokens.installation('a').get();
    const second = await tokens.installation('a').get();
    expect([first.fresh, second.fresh, second.token]).toEqual([true, false, first.token]);
    expect(registry.tokenRequests).toEqual(['a']);
  });

  it('is renewed five minutes before it expires', async () => {
    const { registry, tokens } = createFakeRegistry();
    await getToken(tokens, 'a');
    registry.now += 2 * HOUR - 5 * MINUTE - 1;
    expect(await getToken(tokens, 'a')).toBe('token-1');
    registry.now += 1;
    expect(await getToken(tokens, 'a')).toBe('token-2');
  });

  it('is used for half of a short lifetime', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.lifetimeMs = MINUTE;
    await getToken(tokens, 'a');
    registry.now += MINUTE / 2 - 1;
    expect(await getToken(tokens, 'a')).toBe('token-1');
    registry.now += 1;
    expect(await getToken(tokens, 'a')).toBe('token-2');
  });

  for (const expiresAt of ['', 'soon', '0000-00-00T00:00:00Z', '1999-01-01T00:00:00.000Z']) {
    it(`is used for five minutes with the expiry '${expiresAt}'`, async () => {
      const { registry, tokens } = createFakeRegistry();
      registry.answer = { expiresAt };
      await getToken(tokens, 'a');
      registry.now += 5 * MINUTE - 1;
      expect(await getToken(tokens, 'a')).toBe('token-1');
      registry.now += 1;
      expect(await getToken(tokens, 'a')).toBe('token-2');
    });
  }

  it('T42 is not used if the clock stepped back to before it was received', async () => {
    const { registry, tokens } = createFakeRegistry();
    await getToken(tokens, 'a');
    registry.now -= 2 * MINUTE;
    expect(await getToken(tokens, 'a')).toBe('token-1');
    registry.now -= HOUR;
    expect(await getToken(tokens, 'a')).toBe('token-2');
  });

  it('T38 is renewed once after a refusal, however many callers were refused', async () => {
    const { registry, tokens } = createFakeRegistry();
    const source = tokens.installation('a');
    const { token } = await source.get();
    source.discard(token);
    registry.hold();
    const renewed = source.get();
    source.discard(token);
    const joined = source.get();
    registry.release();
    await Promise.all([renewed, joined]);
    source.discard(token);
    expect((await source.get()).token).toBe('token-2');
    expect(registry.tokenRequests).toEqual(['a', 'a']);
  });

  it('is requested again after a failed request, whose error all callers receive', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.fault = new RegistryError('unavailable', 'down');
    registry.hold();
    const calls = [getToken(tokens, 'a'), getToken(tokens, 'a')];
    registry.release();
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    registry.fault = undefined;
    expect(await getToken(tokens, 'a')).toBe('token-2');
  });

  it('is refused if it names another installation', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.answer = { installationId: 'b' };
    await expect(getToken(tokens, 'a')).rejects.toMatchObject({ code: 'bad_answer' });
    registry.answer = { installationId: 'a' };
    expect(await getToken(tokens, 'a')).toBe('token-2');
  });

  it('is refused if it names another organization', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.answer = { organizationId: 'theirs' };
    const source = tokens.installation('a', 'ours');
    await expect(source.get()).rejects.toMatchObject({ code: 'bad_answer' });
    registry.answer = { organizationId: 'ours' };
    expect(await source.get()).toMatchObject({ token: 'token-2', fresh: true });
    await expect(tokens.installation('a', 'others').get()).rejects.toMatchObject({ code: 'bad_answer' });
  });
});

describe('after the permissions of an installation were reported', () => {
  it('a token with the same permissions is kept, whatever their order and case', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.permissions = write;
    await getToken(tokens, 'a');
    tokens.setGrantedPermissions('a', { organization_warehouse: 'write', organization_info: 'View' });
    expect(await getToken(tokens, 'a')).toBe('token-1');
  });

  it('a token with fewer or more permissions is not used again', async () => {
    const { registry, tokens } = createFakeRegistry();
    await getToken(tokens, 'a');
    registry.permissions = write;
    tokens.setGrantedPermissions('a', write);
    expect(await getToken(tokens, 'a')).toBe('token-2');
    registry.permissions = read;
    tokens.setGrantedPermissions('a', read);
    expect(await getToken(tokens, 'a')).toBe('token-3');
  });

  it('a token that was being requested serves its callers, but is not cached if it has the old permissions', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.hold();
    const early = getToken(tokens, 'a');
    registry.permissions = write;
    tokens.setGrantedPermissions('a', write);
    registry.release();
    expect(await early).toBe('token-1');
    expect(await getToken(tokens, 'a')).toBe('token-2');
  });

  it('a token that never matches is not renewed for every call', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.permissions = { organization_info: 'READ' };
    for (let round = 0; round < 10; round += 1) {
      tokens.setGrantedPermissions('a', write);
      await getToken(tokens, 'a');
    }
    expect(registry.tokenRequests).toEqual(['a', 'a']);
  });

  it('permissions that the registry leaves out are not compared', async () => {
    const { registry, tokens } = createFakeRegistry();
    await getToken(tokens, 'a');
    tokens.setGrantedPermissions('a', null);
    expect(await getToken(tokens, 'a')).toBe('token-1');
    registry.permissions = null;
    await getToken(tokens, 'b');
    tokens.setGrantedPermissions('b', write);
    expect(await getToken(tokens, 'b')).toBe('token-2');
  });
});

describe('the cached tokens', () => {
  it('are dropped with their installation, even while one is being requested', async () => {
    const { registry, tokens } = createFakeRegistry();
    await getToken(tokens, 'a');
    registry.hold();
    const late = getToken(tokens, 'b');
    tokens.forget('a');
    tokens.forget('b');
    tokens.forget('never seen');
    registry.release();
    await late;
    expect(tokens.count()).toBe(0);
    expect(await getToken(tokens, 'b')).toBe('token-3');
  });

  it('do not grow with removed installations', async () => {
    const { registry, tokens } = createFakeRegistry();
    for (let id = 0; id < 500; id += 1) {
      await getToken(tokens, `installation-${id}`);
      registry.now += MINUTE;
    }
    expect(tokens.count()).toBe(115);
  });

  it('do not grow with failed requests', async () => {
    const { registry, tokens } = createFakeRegistry();
    registry.fault = new RegistryError('not_found', 'no such installation');
    for (let id = 0; id < 20; id += 1) {
      tokens.setGrantedPermissions(`installation-${id}`, read);
      await getToken(tokens, `installation-${id}`).catch(() => undefined);
    }
    expect(tokens.count()).toBe(1);
  });

  it('include one app token, renewed in the same way', async () => {
    const { registry, tokens } = createFakeRegistry();
    const [one, two] = await Promise.all([tokens.app().get(), tokens.app().get()]);
    expect(one.token).toBe(two.token);
    tokens.app().discard(one.token);
    expect(await tokens.app().get()).toMatchObject({ token: 'token-2', fresh: true });
    expect(registry.tokenRequests).toEqual(['app', 'app']);
  });

  it('are not shared between two clients', async () => {
    const first = createFakeRegistry();
    const second = createFakeRegistry();
    await getToken(first.tokens, 'a');
    await getToken(second.tokens, 'a');
    expect([first.registry.tokenRequests, second.registry.tokenRequests]).toEqual([['a'], ['a']]);
  });
});

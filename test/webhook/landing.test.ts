import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { writeState } from '../../src/webhook/install-state.js';
import { APP_ID, type Door, OLD_SECRET, openDoor, SECRET } from '../support/door.js';
import { holdLock } from '../support/held.js';

const HOUR_MS = 3_600_000;

function newState(overrides: { readonly expiresAt?: number; readonly secret?: string } = {}): string {
  const { expiresAt = Date.now() + HOUR_MS, secret = SECRET } = overrides;
  return writeState({ id: randomBytes(16).toString('base64url'), expiresAt }, secret, APP_ID);
}

async function land(door: Door, query: Record<string, string>) {
  const response = await fetch(`${door.url}/installed?${new URLSearchParams(query).toString()}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function looks(door: Door) {
  const { ready } = await door.inbox.countJobs();
  return { ready, deliveries: door.stored() };
}

describe('who comes back from the registry’s page', () => {
  test('with a state of ours is told to wait a moment, and the installation is looked at, for a person', async () => {
    const door = await openDoor();
    const answer = await land(door, {
      state: newState({ secret: OLD_SECRET }),
      installationId: 'i-1',
      event: 'installed',
    });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('your credits will be here in a moment');
    expect(await looks(door)).toEqual({ ready: 1, deliveries: 0 });
    expect(door.db.prepare('SELECT installation_id, trigger, organization_id FROM jobs').all()).toEqual([
      { installation_id: 'i-1', trigger: 'person', organization_id: null },
    ]);
    expect(door.landings).toMatchObject([{ status: 200, installationId: 'i-1' }]);
  });

  test('T69 is shown neither the state nor the id, and the address is told to nobody', async () => {
    const door = await openDoor();
    const state = newState();
    const { text, headers } = await land(door, { state, installationId: 'i-<b>' });
    for (const shown of [state, 'i-']) expect(text).not.toContain(shown);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(JSON.stringify(door.landings)).not.toContain(state);
  });

  test.each([
    ['without a state', () => ({ installationId: 'i-1' })],
    ['without an installation', () => ({ state: newState() })],
    ['with an empty one', () => ({ state: '', installationId: 'i-1' })],
    [
      'with one of another secret',
      () => ({ state: newState({ secret: 'another secret of sixteen' }), installationId: 'i-1' }),
    ],
    [
      'with one that is over',
      () => ({ state: newState({ expiresAt: Date.now() - 1000 }), installationId: 'i-1' }),
    ],
    ['with an endless one', () => ({ state: newState().repeat(100), installationId: 'i-1' })],
    ['for a path', () => ({ state: newState(), installationId: '../../etc' })],
    ['for markup', () => ({ state: newState(), installationId: '<script>' })],
  ])('T79 %s is answered 400, and nothing is stored', async (_case, query) => {
    const door = await openDoor();
    const answer = await land(door, query());
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('moment');
    expect(await looks(door)).toEqual({ ready: 0, deliveries: 0 });
  });

  test('T79 twice the same values in one address are none', async () => {
    const door = await openDoor();
    const state = newState();
    const response = await fetch(`${door.url}/installed?state=${state}&state=${state}&installationId=i-1`);
    expect(response.status).toBe(400);
    expect(await looks(door)).toEqual({ ready: 0, deliveries: 0 });
  });

  test('T79 a state that is used again asks for nothing new, and never for another installation', async () => {
    const door = await openDoor();
    const state = newState();
    for (let times = 0; times < 20; times += 1) {
      expect((await land(door, { state, installationId: 'i-1' })).status).toBe(200);
    }
    expect((await land(door, { state, installationId: 'i-2' })).status).toBe(400);
    expect(await looks(door)).toEqual({ ready: 1, deliveries: 0 });
    expect(await door.inbox.claim({ lanes: [{ lane: 'data', slots: 4 }], leaseMs: 60_000 })).toMatchObject({
      jobs: [{ installationId: 'i-1' }],
    });
    expect((await land(door, { state, installationId: 'i-1' })).status).toBe(200);
    expect(await looks(door)).toEqual({ ready: 0, deliveries: 0 });
  });

  test('T79 each receiver remembers by itself which states were used: another lets one through once, for one installation', async () => {
    const state = newState();
    const doors = [await openDoor(), await openDoor()];
    for (const [index, door] of doors.entries()) {
      const own = { state, installationId: `i-${index}` };
      expect((await land(door, own)).status).toBe(200);
      expect((await land(door, { state, installationId: 'i-9' })).status).toBe(400);
      expect((await land(door, own)).status).toBe(200);
      expect(await looks(door)).toEqual({ ready: 1, deliveries: 0 });
    }
  });

  test('T79 of a flood of forged states and of guessed installations one state lets one through', async () => {
    const door = await openDoor({ headersTimeoutMs: HOUR_MS, requestTimeoutMs: HOUR_MS });
    const state = newState();
    const flood = Array.from({ length: 1000 }, (_, index) =>
      land(door, {
        state: index % 2 === 0 ? state : newState({ secret: 'x' }),
        installationId: `i-${index}`,
      }),
    );
    const answers = await Promise.all(flood);
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(1);
    expect(answers.every(({ status }) => [200, 400, 503].includes(status))).toBe(true);
    expect(await looks(door)).toEqual({ ready: 1, deliveries: 0 });
  });

  test('T17 is asked to come again where nothing can be stored, and is taken then', async () => {
    const door = await openDoor();
    const release = holdLock(door.db.name);
    const query = { state: newState(), installationId: 'i-1' };
    const answer = await land(door, query);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.text).not.toMatch(/SQLITE|locked/);
    release();
    expect((await land(door, query)).status).toBe(200);
  });

  test('T16 posts nothing to that address', async () => {
    const door = await openDoor();
    const response = await fetch(`${door.url}/installed`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });
});

import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { LONGEST_STATE, readState, writeState } from '../../src/webhook/install-state.js';
import { APP_ID, OLD_SECRET, SECRET } from '../support/door.js';

const NOON = Date.parse('2026-01-31T12:00:00Z');
const ID = 'AAAAAAAAAAAAAAAAAAAAAA';
const KEYS = { secrets: [SECRET, OLD_SECRET], appId: APP_ID };
const made = (secret = SECRET, appId = APP_ID) =>
  writeState({ id: ID, expiresAt: NOON + 60_000 }, secret, appId);

describe('T79 a state', () => {
  test('is good until its time is over, whichever live secret made it', () => {
    for (const secret of [SECRET, OLD_SECRET]) {
      expect(readState(made(secret), KEYS, NOON)).toEqual({ id: ID, expiresAt: NOON + 60_000 });
      expect(readState(made(secret), KEYS, NOON + 59_999)).not.toBeNull();
      expect(readState(made(secret), KEYS, NOON + 60_000)).toBeNull();
    }
    expect(made().length).toBeLessThanOrEqual(LONGEST_STATE);
  });

  test('of another secret, of another app or of no secret at all is none', () => {
    expect(readState(made('another secret of sixteen'), KEYS, NOON)).toBeNull();
    expect(readState(made(SECRET, 'another-app'), KEYS, NOON)).toBeNull();
    expect(readState(made(), { ...KEYS, secrets: [] }, NOON)).toBeNull();
  });

  test('with any one character changed, added or taken away is none', () => {
    const state = made();
    for (let at = 0; at < state.length; at += 1) {
      const other = state[at] === 'b' ? 'c' : 'b';
      expect(readState(state.slice(0, at) + other + state.slice(at + 1), KEYS, NOON), `${at}`).toBeNull();
      expect(readState(state.slice(0, at) + state.slice(at + 1), KEYS, NOON), `${at}`).toBeNull();
      expect(readState(`${state.slice(0, at)}b${state.slice(at)}`, KEYS, NOON), `${at}`).toBeNull();
    }
    for (const text of ['', '..', `${state}\n`, ` ${state}`, '__proto__']) {
      expect(readState(text, KEYS, NOON)).toBeNull();
    }
  });

  test('is signed by a key of its own: what signs a webhook signs no state', () => {
    const [id, seconds] = made().split('.');
    const seal = createHmac('sha256', SECRET).update(`${id}.${seconds}`).digest('base64url');
    expect(readState(`${id}.${seconds}.${seal}`, KEYS, NOON)).toBeNull();
  });
});

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** What an installation's page gives back as it was given: made by who holds a webhook secret, for one app, until an instant. */
export interface InstallState {
  readonly id: string;
  /** Epoch ms, in whole seconds. */
  readonly expiresAt: number;
}

export interface StateKeys {
  /** Any of them may have made it. */
  readonly secrets: readonly string[];
  readonly appId: string;
}

const SHAPE = /^([A-Za-z0-9_-]{22})\.([0-9a-z]{1,8})\.([A-Za-z0-9_-]{43})$/;
export const LONGEST_STATE = 22 + 8 + 43 + 2;

/** `id` is random: 16 bytes in base64url. */
export function writeState({ id, expiresAt }: InstallState, secret: string, appId: string): string {
  const seconds = Math.floor(expiresAt / 1000).toString(36);
  return `${id}.${seconds}.${sealOf(id, seconds, secret, appId)}`;
}

/** Null for any text but one that a secret of ours made and whose time is not over. */
export function readState(text: string, { secrets, appId }: StateKeys, now: number): InstallState | null {
  const [, id, seconds, seal] = SHAPE.exec(text) ?? [];
  if (id === undefined || seconds === undefined || seal === undefined) return null;
  const isOurs = secrets.some(secret => isSame(sealOf(id, seconds, secret, appId), seal));
  const expiresAt = Number.parseInt(seconds, 36) * 1000;
  return isOurs && now < expiresAt ? { id, expiresAt } : null;
}

/** Of a key of its own: what signs states signs no webhook, and the other way round. */
function sealOf(id: string, seconds: string, secret: string, appId: string): string {
  const key = hkdfSync('sha256', secret, appId, 'carbon-mirror installation state', 32);
  return createHmac('sha256', Buffer.from(key)).update(`${id}.${seconds}`).digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

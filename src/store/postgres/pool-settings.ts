import type { DatabaseSettings } from '../settings.js';
import type { PoolOptions } from './driver.js';

/** A database in a person's words: neither its password nor its user. */
export function describeLocation(url: string): string {
  const { hostname, host, pathname, searchParams } = new URL(url.replace('@/', '@localhost/'));
  const server = searchParams.get('host') ?? (hostname === '' ? 'localhost' : host);
  return `the database "${decodeURIComponent(pathname.slice(1))}" at ${server}`;
}

/** Most that a role has at once. A command that asks while a list streams, and writes, needs three. */
const CONNECTIONS = { receive: 2, work: 4, command: 4 } as const;

export function getPoolOptions(
  { url, pool }: DatabaseSettings,
  role: keyof typeof CONNECTIONS,
  onFault: PoolOptions['onFault'],
): PoolOptions {
  const most = CONNECTIONS[role];
  const connections = role === 'work' ? Math.min(most, pool ?? most) : most;
  return { url, name: `carbon-mirror ${role}`, connections, onFault };
}

/** Tells the instant in epoch ms; null where the database's own clock does. */
export type InboxClock = (() => number) | null;

export function getInboxClock({ clock }: DatabaseSettings, now: () => number): InboxClock {
  return clock === 'process' ? now : null;
}

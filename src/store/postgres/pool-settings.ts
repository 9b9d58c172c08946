import type { DatabaseSettings } from '../settings.js';
import type { PoolOptions } from './driver.js';

/** Names a database for messages, without user and password. */
export function describeLocation(url: string): string {
  const { hostname, host, pathname, searchParams } = new URL(url.replace('@/', '@localhost/'));
  const server = searchParams.get('host') ?? (hostname === '' ? 'localhost' : host);
  return `the database "${decodeURIComponent(pathname.slice(1))}" at ${server}`;
}

/** Maximum connections of each process role. A command that streams, queries and writes needs three. */
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

/** Returns the time in epoch milliseconds; null uses the clock of the database. */
export type InboxClock = (() => number) | null;

export function getInboxClock({ clock }: DatabaseSettings, now: () => number): InboxClock {
  return clock === 'process' ? now : null;
}

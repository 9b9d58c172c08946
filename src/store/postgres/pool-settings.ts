import type { DatabaseSettings } from '../settings.js';
import type { PoolOptions } from './driver.js';

/** Describes a database for messages: its name and server, without user and password. */
export function describeLocation(url: string): string {
  const { hostname, host, pathname, searchParams } = new URL(url.replace('@/', '@localhost/'));
  const server = searchParams.get('host') ?? (hostname === '' ? 'localhost' : host);
  return `the database "${decodeURIComponent(pathname.slice(1))}" at ${server}`;
}

/** Maximum connections of each process role. A command that streams, queries and writes needs three. */
const CONNECTIONS = { receive: 2, work: 4, command: 4 } as const;

/** Returns the options of a connection pool. The role of the process (receiver, worker or command) limits its connections. */
export function getPoolOptions(
  { url, pool }: DatabaseSettings,
  role: keyof typeof CONNECTIONS,
  onFault: PoolOptions['onFault'],
): PoolOptions {
  const maxConnections = CONNECTIONS[role];
  const connections = role === 'work' ? Math.min(maxConnections, pool ?? maxConnections) : maxConnections;
  return { url, name: `carbon-mirror ${role}`, connections, onFault };
}

/** The clock from which inbox rows get their times, in epoch milliseconds. Null stands for the clock of the database. */
export type InboxClock = (() => number) | null;

/** Returns the clock that the settings choose for the inbox: that of the process, or null for that of the database. */
export function getInboxClock({ clock }: DatabaseSettings, now: () => number): InboxClock {
  return clock === 'process' ? now : null;
}

import type { DatabaseSettings } from '../settings.js';
import type { PoolOptions } from './driver.js';

/** Most that a role has at once. A command that asks while a list streams needs a second. */
const CONNECTIONS = { receive: 2, work: 4, command: 2, console: 2 } as const;

export function poolOf(
  { url, pool }: DatabaseSettings,
  role: keyof typeof CONNECTIONS,
  onFault: PoolOptions['onFault'],
): PoolOptions {
  const most = CONNECTIONS[role];
  const connections = Math.min(most, pool ?? most);
  return { url, name: `carbon-mirror ${role}`, connections, onFault };
}

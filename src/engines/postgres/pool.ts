import type { DatabaseSettings } from '../engine.js';
import type { PoolOptions } from './driver.js';

/** Most that a role has at once. A command that asks while a list streams needs a second. */
const CONNECTIONS = { receive: 2, work: 4, command: 2 } as const;

/** One that breaks while nobody asks is made again by who asks next, or that one is told. */
export function poolOf({ url, pool }: DatabaseSettings, role: keyof typeof CONNECTIONS): PoolOptions {
  const most = CONNECTIONS[role];
  const connections = Math.min(most, pool ?? most);
  return { url, name: `carbon-mirror ${role}`, connections, onFault: () => undefined };
}

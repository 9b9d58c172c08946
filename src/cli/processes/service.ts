import type { Log } from '../../app/log.js';
import type { RunningProcess } from '../../app/process-health.js';
import { listDatabaseSecrets } from '../../app/config/database-settings.js';
import type { Engine } from '../../store/engine.js';
import type { StoreSettings } from '../../store/settings.js';
import { createMask } from '../../text/mask.js';
import { usesColours, type Io } from '../io.js';

/** The settings that every service has. */
interface ServiceSettings {
  readonly logLevel: string;
  readonly database: StoreSettings['database'];
}

/**
 * Runs a service, such as the receiver, until a signal or a failure. `secrets` are masked in its log. Reports its port to the
 * parent process.
 */
export async function runService(
  io: Io,
  role: string,
  { logLevel: level, database }: ServiceSettings,
  secrets: readonly string[],
  start: (log: Log) => Promise<RunningProcess>,
): Promise<void> {
  const { createLog } = await import('../../app/log.js');
  const mask = createMask([...secrets, ...listDatabaseSecrets(database)]);
  const logFormat = { pretty: io.terminal.stdout, inColour: usesColours(io) };
  const interrupted = io.createInterruptSignal();
  const running = await start(createLog({ level, mask, now: io.now, ...logFormat, fields: { role } }));
  io.sendToParent({ ready: role, port: running.port, operations: running.operationsPort });
  try {
    await Promise.race([waitForAbort(interrupted), running.failed]);
  } finally {
    await running.stop();
  }
}

/** The variable that allows a child process to use the next free port. It names the setting of that port. */
export const NEXT_PORT_VARIABLE = 'OR_NEXT_PORT';

/**
 * Returns whether a service may use the next free port if its port is in use. Returns false if the user set
 * the port.
 */
export function mayUseNextPort({ env }: Io, setting: 'PORT' | 'CONSOLE_PORT' | 'API_PORT'): boolean {
  return !env[setting] || env[NEXT_PORT_VARIABLE] === setting;
}

/** Returns whether a token for the HTTP API exists that is not revoked. */
export async function hasValidToken(engine: Pick<Engine, 'openInbox'>, now: () => number): Promise<boolean> {
  const { tokens, close } = await engine.openInbox(now);
  try {
    return (await tokens.list()).some(({ revokedAt }) => revokedAt === null);
  } finally {
    await close();
  }
}

/** Resolves when the signal is aborted. */
export async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>(resolve => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

import { hostname } from 'node:os';
import type { ProcessRole } from '../database/inbox-tables.js';
import { type LivingProcess, SIGN_EVERY_MS } from '../inbox/signs.js';
import type { Log } from '../log.js';

export function thisProcess(role: ProcessRole, startedAt: number): LivingProcess {
  return { role, host: hostname(), pid: process.pid, startedAt };
}

/** A sign of life at once, and then every 15 seconds. Answers how to stop. */
export function keepSigning(sign: () => Promise<unknown>, log: Log): () => void {
  const give = () =>
    void sign().catch((error: unknown) => {
      log.warn({ err: error }, 'no sign of life could be given this time');
    });
  give();
  const timer = setInterval(give, SIGN_EVERY_MS);
  return () => clearInterval(timer);
}

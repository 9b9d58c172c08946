import type { RunningSandbox, SandboxOptions } from './options.js';
import { startSandbox as startFullSandbox } from './start.js';

export { type ControlClient, ControlError, createControlClient } from './control/control-client.js';
export type { RunningSandbox as Sandbox, SandboxOptions, WorldAmounts } from './options.js';

/** Starts a sandbox registry on this machine, which runs until `close` is called. */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  return await startFullSandbox(options);
}

import type { RunningSandbox, SandboxOptions } from './options.js';
import { startSandbox as start } from './start.js';

export type { RunningSandbox as Sandbox, SandboxOptions, WorldAmounts } from './options.js';

export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  return await start(options);
}

import type { Command } from 'commander';
import { examples } from './command.js';
import { findOpenSettings } from './exposures.js';
import { type Io, say } from './io.js';
import { adviseVolume } from './service.js';
import { meansDemo } from './place.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('up')
    .description(
      'Start receive and work together; with no settings at all, a demo with a registry of its own',
    )
    .action(async () => {
      const interrupted = io.interruption();
      const { runChildren } = await import('./children.js');
      if (meansDemo(io.env)) {
        const { runDemo } = await import('./demo.js');
        return await runDemo(io, interrupted);
      }
      const { readUpSettings } = await import('../config.js');
      const { SETTINGS_TOOLS } = await import('./settings-tools.js');
      await readUpSettings(io.env, SETTINGS_TOOLS);
      adviseVolume(io);
      for (const { found, todo } of findOpenSettings(io.secretFiles)) say(io, `Warning: ${found}. ${todo}`);
      return await runChildren(io, io.env, interrupted, async () => undefined);
    });
  examples(command, ['carbon-mirror up', 'carbon-mirror up --env-file .env']);
}

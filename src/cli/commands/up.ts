import type { Command } from 'commander';
import { readUpSettings } from '../../config/config.js';
import { examples } from '../command.js';
import { findConsole, invitation } from '../console-address.js';
import { findOpenSettings } from '../faults/exposures.js';
import { type Io, say } from '../io.js';
import { adviseVolume } from '../processes/service.js';
import { meansDemo, ownPlace } from '../place/find-place.js';
import { SETTINGS_TOOLS } from '../settings-tools.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('up')
    .description(
      'Start receive, work and console together; with no settings at all, a demo with a registry of its own',
    )
    .action(async () => {
      const interrupted = io.interruption();
      if (meansDemo(io.env)) {
        const { runDemo } = await import('./demo/demo.js');
        return await runDemo(io, interrupted);
      }
      const { runChildren } = await import('../processes/children.js');
      await readUpSettings(io.env, SETTINGS_TOOLS);
      await ownPlace(io).engine.migrate(io.now());
      adviseVolume(io);
      for (const { found, todo } of findOpenSettings(io.secretFiles)) say(io, `Warning: ${found}. ${todo}`);
      const place = ownPlace(io);
      return await runChildren(io, io.env, interrupted, async ({ consolePort }) => {
        const known = consolePort === null ? null : findConsole(place);
        if (known !== null) say(io, ...invitation(known, io));
      });
    });
  examples(command, ['carbon-mirror up', 'carbon-mirror up --env-file .env']);
}

import type { Command } from 'commander';
import { readSettings } from '../../config/config.js';
import { databaseSecrets } from '../../config/database.js';
import { createMask } from '../../registry/http/mask.js';
import { examples } from '../command.js';
import { colours, type Io } from '../io.js';
import { adviseVolume, runService, warnOfExposures } from '../processes/service.js';
import { SETTINGS_TOOLS } from '../settings-tools.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('work')
    .description('Read the registry as deliveries and the schedule ask for it; runs until it is stopped')
    .action(async () => {
      const settings = await readSettings(io.env, 'work', SETTINGS_TOOLS);
      adviseVolume(io);
      const { createLog } = await import('../../log/log.js');
      const { startWork } = await import('../../app/work.js');
      const log = createLog({
        level: settings.logLevel,
        mask: createMask([settings.privateKey, ...databaseSecrets(settings.database)]),
        now: io.now,
        pretty: io.terminal.stdout,
        inColour: colours(io),
        fields: { role: 'work' },
      });
      warnOfExposures(io, log);
      await runService(io, 'work', () => startWork(settings, { log, now: io.now }));
    });
  examples(command, ['carbon-mirror work', "SYNC_SCHEDULE='0 * * * *' carbon-mirror work"]);
}

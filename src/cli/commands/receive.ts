import type { Command } from 'commander';
import { readSettings } from '../../config/config.js';
import { databaseSecrets } from '../../config/database.js';
import { createMask } from '../../registry/http/mask.js';
import { examples } from '../command.js';
import { colours, type Io } from '../io.js';
import { adviseVolume, runService, takesNextPort, warnOfExposures } from '../processes/service.js';

export function define(program: Command, io: Io): void {
  const command = program
    .command('receive')
    .description('Take webhooks at HOST:PORT and store them; runs until it is stopped')
    .action(async () => {
      const settings = await readSettings(io.env, 'receive');
      adviseVolume(io);
      const { createLog } = await import('../../log/log.js');
      const { startReceive } = await import('../../app/receive.js');
      const log = createLog({
        level: settings.logLevel,
        mask: createMask([...settings.webhookSecrets, ...databaseSecrets(settings.database)]),
        now: io.now,
        pretty: io.terminal.stdout,
        inColour: colours(io),
        fields: { role: 'receive' },
      });
      warnOfExposures(io, log);
      await runService(io, 'receive', () =>
        startReceive({ ...settings, orNextPort: takesNextPort(io, 'PORT') }, { log, now: io.now }),
      );
    });
  examples(command, ['carbon-mirror receive', 'PORT=3000 HOST=0.0.0.0 carbon-mirror receive']);
}

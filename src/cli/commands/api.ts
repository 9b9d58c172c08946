import { readSettings } from '../../app/config/read-settings.js';
import { readPackageVersion } from '../../package.js';
import { defineCommand } from '../define-command.js';
import { mayUseNextPort, runService } from '../processes/service.js';

export const API = defineCommand({
  summary: 'Start the HTTP API for other programs',
  details:
    'Answers GET requests at API_HOST:API_PORT/v1 to the holders of tokens. Runs until it is stopped. `up` starts it too, once there is a token.',
  examples: [
    'carbon-mirror api',
    'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8060/v1/retirements?year=2025',
  ],
  run: async ({ io, requireMirror }) => {
    const { engine, env } = requireMirror();
    const settings = await readSettings(env, 'api');
    const { startApi } = await import('../../app/api.js');
    const options = {
      ...settings,
      engine,
      mayUseNextPort: mayUseNextPort(io, 'API_PORT'),
      version: readPackageVersion(),
    };
    await runService(io, 'api', settings, [], log => startApi(options, { log, now: io.now }));
  },
});

import { defineCommand } from '../../define-command.js';
import { beginNewEpoch } from '../../subscriptions/begin-epoch.js';

export const NEW_EPOCH = defineCommand({
  summary: 'Begin new event ids after restoring PostgreSQL',
  details:
    'Only needed after pg_restore: "restore" and "move" do it themselves. Every subscriber is told by mirror.restored before any other event.',
  examples: ['carbon-mirror subscriptions new-epoch'],
  formats: { json: 'print the name of the epoch as JSON' },
  run: async context => {
    const { engine } = context.requireMirror();
    const epoch = await beginNewEpoch({ engine, now: context.io.now, reason: 'restored' });
    await context.printResult(
      { epoch },
      epoch === null ? 'No subscriptions.' : `Event ids begin with ${epoch} from now on.`,
    );
  },
});

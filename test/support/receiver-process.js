// A receiver with the real database as a process of its own, for the benchmark and the torture test.
// Arguments: data folder, port, app id, secret. `--answer-first` breaks the one promise it makes, on purpose.
import { join } from 'node:path';
import { migrate } from '../../dist/database/migrate.js';
import { openDatabase } from '../../dist/database/open.js';
import { startCommitThread } from '../../dist/inbox/commit-thread.js';
import { createGroupCommit } from '../../dist/inbox/group-commit.js';
import { listen } from '../../dist/webhook/listen.js';
import { createReceiver } from '../../dist/webhook/receiver.js';

const [folder, port, appId, secret, flag] = process.argv.slice(2);
const file = join(folder, 'inbox.db');
const db = openDatabase(file, { busyTimeoutMs: 5000 });
migrate(db, 'inbox', new Date().toISOString());
db.close();

const failed = error => {
  throw error;
};
const thread = await startCommitThread({ file, busyTimeoutMs: 250, now: Date.now, failed });
const commits = createGroupCommit({ store: deliveries => thread.store(deliveries) });
const answerFirst = delivery => {
  commits.accept(delivery).catch(() => undefined);
  return Promise.resolve({ id: 0, jobId: null });
};

const receiver = createReceiver({
  headerPrefix: 'registry',
  secrets: [secret],
  appId,
  accept: flag === '--answer-first' ? answerFirst : delivery => commits.accept(delivery),
  now: Date.now,
});
const listening = await listen(receiver, { host: '127.0.0.1', port: Number(port) });
process.stdout.write(`listening ${listening.port}\n`);
process.once('SIGTERM', () => void stop());

async function stop() {
  await listening.close();
  await commits.close();
  await thread.close();
}

// A receiver that answers before the commit: the torture test has to find out.
import { join } from 'node:path';
import { migrate } from '../../dist/database/migrate.js';
import { openDatabase } from '../../dist/database/open.js';
import { createGroupCommit } from '../../dist/inbox/group-commit.js';
import { listen } from '../../dist/webhook/listen.js';
import { createReceiver } from '../../dist/webhook/receiver.js';
import { startDoorThread } from '../../dist/webhook/thread.js';

const { DATA_DIR = '', REGISTRY_APP_ID = '', WEBHOOK_SECRETS = '' } = process.env;
const file = join(DATA_DIR, 'inbox.db');
const db = openDatabase(file, { busyTimeoutMs: 5000 });
migrate(db, 'inbox', new Date().toISOString());
db.close();

const failed = error => {
  throw error;
};
const thread = await startDoorThread({
  file,
  busyTimeoutMs: 250,
  secrets: [WEBHOOK_SECRETS],
  appId: REGISTRY_APP_ID,
  now: Date.now,
  failed,
});
const commits = createGroupCommit({ store: posts => thread.accept(posts) });
const delivery = { event: null, installationId: null, verdict: 'accepted', reason: null, secretIndex: 0 };
const answerFirst = post => {
  commits.accept(post).catch(() => undefined);
  return Promise.resolve({ kind: 'stored', delivery, stored: { id: 0, jobId: null } });
};

const receiver = createReceiver({
  headerPrefix: 'registry',
  accept: answerFirst,
  now: Date.now,
});
const listening = await listen(receiver, { host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ port: listening.port })}\n`);

// A receiver with one fault on purpose, named by MUTANT, which the torture tests must detect.
//   answer-first  answers before the commit
//   unflushed     commits without a flush to disk
import { join } from 'node:path';
import { migrate } from '../../dist/src/store/sqlite/migrate.js';
import { openDatabase } from '../../dist/src/store/sqlite/open-database.js';
import { createGroupCommit } from '../../dist/src/webhook/group-commit.js';
import { createReceiverPort } from '../../dist/src/store/sqlite/inbox/receiver-port.js';
import { listen } from '../../dist/src/webhook/http-listener.js';
import { createPostHandler } from '../../dist/src/webhook/post-handler.js';
import { createReceiver } from '../../dist/src/webhook/receiver.js';

/** @import { DeliverySummary, WebhookPost, PostResult } from '../../dist/src/webhook/post-handler.js' */

const { DATA_DIR = '', REGISTRY_APP_ID = '', WEBHOOK_SECRETS = '', MUTANT = '' } = process.env;
const db = openDatabase(join(DATA_DIR, 'inbox.db'), { busyTimeoutMs: 5000 });
migrate(db, 'inbox', new Date().toISOString());
if (MUTANT === 'unflushed') db.pragma('synchronous = NORMAL');

const acceptPosts = createPostHandler({
  secrets: [WEBHOOK_SECRETS],
  appId: REGISTRY_APP_ID,
  store: createReceiverPort(db, Date.now).store,
});
const commits = createGroupCommit({ store: posts => acceptPosts(posts, Date.now()) });
/** @type {DeliverySummary} */
const delivery = { event: null, installationId: null, verdict: 'accepted', reason: null, secretIndex: 0 };

/**
 * @param {WebhookPost} post
 * @returns {Promise<PostResult>}
 */
function answerFirst(post) {
  setTimeout(() => void commits.accept(post).catch(() => undefined), 5);
  return Promise.resolve({ kind: 'stored', delivery, stored: { id: 0, jobId: null, isDuplicate: false } });
}

const receiver = createReceiver({
  headerPrefix: 'registry',
  identityHeaders: {},
  accept: MUTANT === 'answer-first' ? answerFirst : post => commits.accept(post),
  now: Date.now,
});
const listening = await listen(receiver, { host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ port: listening.port })}\n`);

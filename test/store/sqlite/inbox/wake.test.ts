import { expect, onTestFinished, test } from 'vitest';
import { createInstallationJob } from '../../../../src/inbox/job.js';
import { openTestInbox, NOON, temporaryFolder, temporaryInbox } from '../../../support/inbox.js';
import { until } from '../../../support/wait.js';

test('a watcher wakes for a commit of another connection and for a job of its own, and for nothing else', async () => {
  const folder = temporaryFolder();
  const inbox = openTestInbox(temporaryInbox(folder));
  const theirs = openTestInbox(temporaryInbox(folder));
  let woken = 0;
  onTestFinished(
    inbox.at(NOON).watch(() => {
      woken += 1;
    }),
  );
  await inbox.at(NOON).raiseClaims(7);
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(woken).toBe(0);
  await theirs.enqueue(createInstallationJob('theirs', null, 'delivery'), NOON);
  await until(() => woken === 1, 'the poller to see the commit');
  await inbox.enqueue(createInstallationJob('ours', null, 'worker'), NOON);
  await until(() => woken === 2, 'the poller to see our own job');
});

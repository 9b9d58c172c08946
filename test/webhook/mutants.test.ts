// Each law is run against the real thing, and against a copy with one thing broken on purpose, which must fail it.
import { createHmac } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGroupCommit } from '../../src/webhook/group-commit.js';
import { listen } from '../../src/webhook/listen.js';
import type { PostEnd, Post } from '../../src/webhook/posts.js';
import { createReceiver, type ReceiverOptions } from '../../src/webhook/receiver.js';
import { signDelivery, verifySignature } from '../../src/webhook/signature.js';
import { acceptHere, OLD_SECRET, payloadOf, requestBytes, SECRET, signedPost } from '../support/receiver.js';
import { NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { openConnection } from '../support/load.js';
import { tablesIn } from '../support/tables.js';

type Commits = ReturnType<typeof createGroupCommit>;

describe('the signature check', () => {
  type Verify = typeof verifySignature;

  /** Good signatures of all live secrets are found; whatever differs by one character is not, and nothing throws. */
  function keepsTheLaw(verify: Verify): boolean {
    const text = Buffer.from(JSON.stringify(payloadOf())).toString('base64');
    const good = signDelivery(text, SECRET);
    const forged = Array.from(good, (digit, at) => {
      const other = digit === '0' ? '1' : '0';
      return good.slice(0, at) + other + good.slice(at + 1);
    });
    const texts = Array.from(text, (letter, at) => {
      const other = letter === 'A' ? 'B' : 'A';
      return text.slice(0, at) + other + text.slice(at + 1);
    });
    const secrets = [SECRET, OLD_SECRET];
    try {
      return (
        verify(text, good, secrets) === 0 &&
        verify(text, signDelivery(text, OLD_SECRET), secrets) === 1 &&
        verify(text, signDelivery(text, 'a third secret'), secrets) === -1 &&
        forged.every(signature => verify(text, signature, secrets) === -1) &&
        texts.every(other => verify(other, good, secrets) === -1) &&
        [null, '', 'sha256=', good.slice(0, -1), `${good}0`, good.slice(7)].every(
          signature => verify(text, signature, secrets) === -1,
        )
      );
    } catch {
      return false;
    }
  }

  const broken: Record<string, Verify> = {
    'that accepts everything': () => 0,
    'that trusts a missing header': (text, signature, secrets) =>
      signature === null ? 0 : verifySignature(text, signature, secrets),
    'that compares as much as it was given': (text, signature, secrets) =>
      secrets.findIndex(secret => signDelivery(text, secret).startsWith(signature ?? '-')),
    'that compares the first half': (text, signature, secrets) =>
      secrets.findIndex(
        secret =>
          signDelivery(text, secret).slice(0, 39) === signature?.slice(0, 39) && signature.length === 71,
      ),
    'that forgets the older secret': (text, signature, [newest = '']) =>
      verifySignature(text, signature, [newest]),
    'that checks the decoded text': (text, signature, secrets) =>
      secrets.findIndex(secret => {
        const decoded = Buffer.from(text, 'base64');
        return signature === `sha256=${createHmac('sha256', secret).update(decoded).digest('hex')}`;
      }),
    'that has no length guard': (text, signature, secrets) =>
      secrets.findIndex(secret =>
        Buffer.from(signature ?? '').every(
          (byte, at) => byte === Buffer.from(signDelivery(text, secret))[at],
        ),
      ),
  };

  test('T01 T02 T06 keeps the law', () => expect(keepsTheLaw(verifySignature)).toBe(true));
  test.each(Object.entries(broken))('one %s breaks it', (_title, verify) =>
    expect(keepsTheLaw(verify)).toBe(false),
  );
});

const ANSWERED: PostEnd = {
  kind: 'stored',
  delivery: { event: null, installationId: null, verdict: 'accepted', reason: null, secretIndex: 0 },
  stored: { id: 0, jobId: null, isDuplicate: false },
};

describe('the durable answer', () => {
  type Accept = ReceiverOptions['accept'];

  /** Whenever a 202 has arrived, another connection finds at least as many rows as there were 202s. */
  async function keepsTheLaw(acceptThrough: (commits: Commits) => Accept): Promise<boolean> {
    const folder = temporaryFolder();
    const accept = acceptHere(temporaryInbox(folder));
    const commits = createGroupCommit({
      store: async (posts: readonly Post[]) => {
        await new Promise(resolve => setTimeout(resolve, 5));
        return accept(posts);
      },
    });
    const { value } = tablesIn(folder);
    const receiver = createReceiver({
      headerPrefix: 'registry',
      known: {},
      accept: acceptThrough(commits),
      now: () => NOON,
    });
    const listening = await listen(receiver, { host: '127.0.0.1', port: 0 });
    onTestFinished(async () => {
      await listening.close();
      await commits.close();
    });
    let answered = 0;
    let kept = true;
    const connections = Array.from({ length: 8 }, () => openConnection(listening.port));
    await Promise.all(
      connections.map(async (connection, index) => {
        for (let nonce = 0; nonce < 10; nonce += 1) {
          const status = await connection.send(requestBytes(signedPost(payloadOf({ index, nonce }))));
          if (status === 202) answered += 1;
          const due = answered;
          const rows = await value<number>('SELECT count(*) FROM deliveries');
          if ((rows ?? 0) < due) kept = false;
        }
        connection.close();
      }),
    );
    return kept && answered === 80;
  }

  test('T61 keeps the law', async () => {
    expect(await keepsTheLaw(commits => post => commits.accept(post))).toBe(true);
  });

  test('one that is given before the commit breaks it', async () => {
    const answerFirst = (commits: Commits): Accept => {
      return post => {
        void commits.accept(post);
        return Promise.resolve(ANSWERED);
      };
    };
    expect(await keepsTheLaw(answerFirst)).toBe(false);
  });
});

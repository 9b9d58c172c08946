import express from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/webhook/listen.js';
import { openReceiver, payloadOf, requestBytes, signedPost } from '../support/receiver.js';
import { openConnection } from '../support/load.js';
import { pipeline, QUESTIONS } from '../support/pipelining.js';

const SENDERS = 20;

describe('senders that pipeline and never read', () => {
  test('T18 are cut, each with few of its requests looked at', async () => {
    let asked = 0;
    const app = express().use((_request, response) => {
      asked += 1;
      response.end('x'.repeat(1000));
    });
    const listening = await listen(app, { host: '127.0.0.1', port: 0, graceMs: 0 });
    onTestFinished(() => listening.close());
    const { port } = listening;
    await Promise.all(Array.from({ length: SENDERS }, () => pipeline(port, QUESTIONS['the front page'])));
    expect(asked).toBeLessThan(SENDERS * 2000);
  });

  test.each(Object.entries(QUESTIONS))(
    'T18 that ask for %s keep no good post from its answer',
    async (_title, question) => {
      const receiver = await openReceiver();
      const cut = Promise.all(Array.from({ length: SENDERS }, () => pipeline(receiver.port, question)));
      const connection = openConnection(receiver.port);
      for (let nonce = 0; nonce < 20; nonce += 1) {
        expect(await connection.send(requestBytes(signedPost(payloadOf({ nonce }))))).toBe(202);
      }
      await cut;
      connection.close();
      expect(receiver.stored()).toBe(20);
    },
  );
});

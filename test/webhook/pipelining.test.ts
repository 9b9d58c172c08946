import express from 'express';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/webhook/http-listener.js';
import { openReceiver, payloadOf, requestBytes, signedPost } from '../support/receiver.js';
import { openConnection } from '../support/load.js';
import { pipelineUntilClosed, REPEATED_REQUESTS } from '../support/pipelining.js';

const CLIENTS = 20;

describe('clients that pipeline and never read', () => {
  test('T18 are disconnected after few of their requests were handled', async () => {
    let handled = 0;
    const app = express().use((_request, response) => {
      handled += 1;
      response.end('x'.repeat(1000));
    });
    const listening = await listen(app, { host: '127.0.0.1', port: 0, shutdownGraceMs: 0 });
    onTestFinished(() => listening.close());
    const { port } = listening;
    await Promise.all(
      Array.from({ length: CLIENTS }, () => pipelineUntilClosed(port, REPEATED_REQUESTS['the front page'])),
    );
    expect(handled).toBeLessThan(CLIENTS * 2000);
  });

  test.each(Object.entries(REPEATED_REQUESTS))(
    'T18 and request %s delay no genuine post',
    async (_title, question) => {
      const receiver = await openReceiver();
      const cut = Promise.all(
        Array.from({ length: CLIENTS }, () => pipelineUntilClosed(receiver.port, question)),
      );
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

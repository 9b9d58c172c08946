import { createServer, type IncomingMessage } from 'node:http';
import { listenOnFreePort } from './listen.js';

export interface Post {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly event: string;
}

export interface Receiver {
  readonly url: string;
  readonly posts: Post[];
  /** The status of the next answers; 0 never answers. */
  status: number;
  /** How many of the next posts are answered 503 first. */
  failures: number;
}

/** Starts a webhook address of an app that records every post in order. It closes after the test. */
export async function receiveWebhooks(): Promise<Receiver> {
  const posts: Post[] = [];
  const receiver: Receiver = { url: '', posts, status: 202, failures: 0 };
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      posts.push({ headers: req.headers, body, event: JSON.parse(body).event });
      if (receiver.failures > 0) {
        receiver.failures -= 1;
        res.writeHead(503).end();
        return;
      }
      if (receiver.status !== 0) res.writeHead(receiver.status).end();
    });
  });
  const port = await listenOnFreePort(server);
  return Object.assign(receiver, { url: `http://127.0.0.1:${port}/webhooks` });
}

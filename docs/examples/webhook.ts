// A receiver that checks webhooks, and nothing else.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openDelivery, readPayload } from 'carbon-mirror/webhook';

const secrets = (process.env['WEBHOOK_SECRETS'] ?? '').split(',');
const appId = process.env['REGISTRY_APP_ID'] ?? '';
const mostBytes = 1_000_000;
const header = `x-${process.env['REGISTRY_HEADER_PREFIX'] ?? 'registry'}-signature-256`;

// A post that is broken off, or too long, ends itself and not the program.
createServer((request, response) => {
  receive(request, response).catch((error: unknown) => {
    console.error(error);
    if (!response.headersSent) response.writeHead(400);
    response.end();
  });
}).listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1');

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const signature = request.headers[header];
  const opened = openDelivery({
    body: await read(request),
    signature: typeof signature === 'string' ? signature : null,
    secrets,
    appId,
  });
  response.writeHead(opened.verdict === 'rejected' ? opened.status : 202).end();
  if (opened.verdict !== 'accepted') return;
  const { event, installation, transaction } = readPayload(opened.delivery);
  console.log(event, installation?.organization?.fullName, transaction?.amount.exact ?? '');
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) throw new Error(`expected at most ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

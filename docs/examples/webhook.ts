// A minimal receiver that only verifies webhooks and prints them.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openDelivery, readPayload } from 'carbon-mirror/webhook';

const secrets = (process.env['WEBHOOK_SECRETS'] ?? '').split(',');
const appId = process.env['REGISTRY_APP_ID'] ?? '';
const maxBytes = 1_000_000;
const header = `x-${process.env['REGISTRY_HEADER_PREFIX'] ?? 'registry'}-signature-256`;

// An aborted or too large post fails alone and does not end the program.
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
    body: await readBody(request),
    signature: typeof signature === 'string' ? signature : null,
    secrets,
    appId,
  });
  response.writeHead(opened.verdict === 'rejected' ? opened.status : 202).end();
  if (opened.verdict === 'rejected') console.error(opened.detail);
  if (opened.verdict !== 'accepted') return;
  const { event, installation, transaction } = readPayload(opened.delivery);
  console.log(event, installation?.organization?.fullName, transaction?.amount.exact ?? '');
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`expected at most ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

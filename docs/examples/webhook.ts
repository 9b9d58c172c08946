// A receiver that checks webhooks, and nothing else.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { openDelivery, readPayload } from 'carbon-mirror/webhook';

const secrets = (process.env['WEBHOOK_SECRETS'] ?? '').split(',');
const appId = process.env['REGISTRY_APP_ID'] ?? '';
const header = `x-${process.env['REGISTRY_HEADER_PREFIX'] ?? 'registry'}-signature-256`;

createServer((request, response) => void receive(request, response)).listen(
  Number(process.env['PORT'] ?? 8080),
  '127.0.0.1',
);

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const signature = request.headers[header];
  const opened = openDelivery({
    body: await buffer(request),
    signature: typeof signature === 'string' ? signature : null,
    secrets,
    appId,
  });
  response.writeHead(opened.verdict === 'rejected' ? opened.status : 202).end();
  if (opened.verdict !== 'accepted') return;
  const { event, installation, transaction } = readPayload(opened.delivery);
  console.log(event, installation?.organization?.fullName, transaction?.amount.exact ?? '');
}

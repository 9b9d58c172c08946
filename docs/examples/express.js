// Verifies webhooks with Express 5, in which request.body is undefined if a post has no body, and acts on accepted ones.
import express from 'express';
import { openDelivery, readPayload } from 'carbon-mirror/webhook';

const secrets = (process.env['WEBHOOK_SECRETS'] ?? '').split(',');
const appId = process.env['REGISTRY_APP_ID'];
const header = `x-${process.env['REGISTRY_HEADER_PREFIX'] ?? 'registry'}-signature-256`;

const app = express();
app.post('/webhooks', express.raw({ type: () => true, limit: '64kb' }), (request, response) => {
  const body = request.body ?? new Uint8Array();
  const opened = openDelivery({ body, signature: request.get(header), secrets, appId });
  if (opened.verdict === 'rejected') {
    console.error(opened.detail);
    response.sendStatus(opened.status);
    return;
  }
  response.sendStatus(202);
  if (opened.verdict === 'accepted') handle(readPayload(opened.delivery));
});
app.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1');

// A webhook may be old or repeated, so it only says what to read again: ask the registry for the current state here.
function handle({ event, installation }) {
  console.log(event, installation?.organization?.fullName, 'must be read again');
}

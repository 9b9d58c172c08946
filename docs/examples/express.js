// Verifies webhooks with Express 5, in which request.body is undefined if a post has no body.
import express from 'express';
import { openDelivery } from 'carbon-mirror/webhook';

const secrets = (process.env['WEBHOOK_SECRETS'] ?? '').split(',');
const appId = process.env['REGISTRY_APP_ID'] ?? '';
const header = `x-${process.env['REGISTRY_HEADER_PREFIX'] ?? 'registry'}-signature-256`;

const app = express();
app.post('/webhooks', express.raw({ type: () => true, limit: '64kb' }), (request, response) => {
  const body = request.body ?? new Uint8Array();
  const signature = request.get(header) ?? null;
  const opened = openDelivery({ body, signature, secrets, appId });
  response.sendStatus(opened.verdict === 'rejected' ? opened.status : 202);
});
app.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1');

// A subscriber that can be killed: it appends each event to a file before it answers, and refuses some of them.
// node events-receiver.js PORT FILE
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';

const [port = '0', file = ''] = process.argv.slice(2);
const descriptor = openSync(file, 'a');
/** One event in 400 is refused at its first attempt. */
const REFUSED_SHARE = 400;
/** @type {Set<string>} */
const refused = new Set();

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', part => {
    body += part;
  });
  request.on('end', () => {
    const id = String(request.headers['webhook-id']);
    const hash = createHash('sha256').update(body).digest('hex');
    const { type, erased = false, data = {} } = JSON.parse(body);
    if (!refused.has(id) && parseInt(hash.slice(0, 6), 16) % REFUSED_SHARE === 0) {
      refused.add(id);
      response.writeHead(500).end();
      return;
    }
    const { organization_id: organization = null, number = null } = data;
    const at = new Date().toISOString();
    writeSync(descriptor, `${JSON.stringify({ at, id, hash, type, erased, organization, number })}\n`);
    response.writeHead(204).end();
  });
});
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});

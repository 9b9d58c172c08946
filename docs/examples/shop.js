// A shop that takes a credit off its list when too little of it is available, and mails the certificate of each retirement.
// The shop is a subscriber of carbon-mirror and keeps its offers and customers in a file: { "offers": { CREDIT_ID: TONNES },
// "customers": { BENEFICIARY: E_MAIL } }.
//
//   carbon-mirror subscriptions add https://shop.example/hooks --events credit.changed,certificate.stored
//   SHOP_FILE=shop.json WEBHOOK_SECRET=whsec_... DATA_DIR=data MAIL_DIR=mails PORT=8050 node docs/examples/shop.js
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openMirror } from 'carbon-mirror/mirror';

const {
  SHOP_FILE = 'shop.json',
  WEBHOOK_SECRET = '',
  DATA_DIR = 'data',
  MAIL_DIR = '.',
  PORT = '8050',
} = process.env;
const shop = JSON.parse(readFileSync(SHOP_FILE, 'utf8'));
const mirror = await openMirror({ dataDir: DATA_DIR });

/** Returns the event of a request. Throws unless it was signed with the secret within the last five minutes. */
function verify(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) throw new Error('the timestamp is too old');
  const key = Buffer.from(WEBHOOK_SECRET.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  const given = signatures.split(' ').map(each => Buffer.from(each.replace('v1,', ''), 'base64'));
  if (!given.some(each => each.length === expected.length && timingSafeEqual(each, expected)))
    throw new Error('the signature is wrong');
  return JSON.parse(body);
}

/** The action of the shop for each type of event. Repeating an action is harmless, because an event may arrive twice. */
const actions = {
  'credit.changed': ({ resource, row, previous }) => {
    if (resource !== 'warehouse') return;
    const { credit_id: creditId } = row ?? previous;
    const available = Number(row?.amount_exact ?? 0);
    if (!(shop.offers[creditId] > available)) return;
    delete shop.offers[creditId];
    writeFileSync(SHOP_FILE, JSON.stringify(shop));
    console.log(`no longer offered: ${creditId}, ${available} t are left`);
  },
  'certificate.stored': async ({ row: { retirement_id: retirementId, sha256 } }) => {
    const found = await mirror
      .selectFrom('retirements')
      .innerJoin('certificates', 'certificates.retirement_id', 'retirements.id')
      .select(['beneficiary', 'amount_exact', 'file'])
      .where('retirements.id', '=', retirementId)
      .where('sha256', '=', sha256)
      .executeTakeFirst();
    const address = shop.customers[found?.beneficiary];
    if (address === undefined) return;
    const pdf = readFileSync(join(DATA_DIR, 'certificates', found.file));
    mail(address, `Your retirement of ${found.amount_exact} t`, retirementId, pdf);
  },
};

/** Stands for the mail server of the shop. The name of the file makes a second mail for the same retirement the first one. */
function mail(address, subject, retirementId, pdf) {
  writeFileSync(
    join(MAIL_DIR, `${retirementId}.eml`),
    `To: ${address}\nSubject: ${subject}\n\n${pdf.toString('base64')}\n`,
  );
  console.log(`mailed the certificate of ${retirementId} to ${address}`);
}

async function receiveEvent(request, response) {
  try {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const { type, erased, data } = verify(request.headers, body);
    if (!erased) await actions[type]?.(data);
    response.writeHead(204).end();
  } catch (error) {
    // Any other status than 2xx makes carbon-mirror repeat the event later.
    console.error(error.message);
    response.writeHead(400).end();
  }
}

const server = createServer((request, response) => void receiveEvent(request, response));
server.listen(Number(PORT), '127.0.0.1', () => console.log(`the shop listens on ${server.address().port}`));

// A shop that shows its offers only while enough of the credit is available, and mails the certificate of each retirement.
// The shop is a subscriber of carbon-mirror, on the same machine. It keeps its offers and customers in a file:
// { "offers": { CREDIT_ID: TONNES }, "customers": { BENEFICIARY: E_MAIL } }. docs/integrate.md says how to start it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openMirror } from 'carbon-mirror/mirror';

const {
  SHOP_FILE = 'shop.json',
  EVENTS_SECRET = '',
  DATA_DIR = 'data',
  MAIL_DIR = 'mails',
  PORT = '8050',
} = process.env;
const shop = JSON.parse(readFileSync(SHOP_FILE, 'utf8'));
const mirror = await openMirror({ dataDir: DATA_DIR });

/** Returns the event of a request. Throws unless it was signed with the secret within the last five minutes. */
function verify(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) throw new Error('the timestamp is too old');
  const key = Buffer.from(EVENTS_SECRET.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  const given = signatures.split(' ').map(each => Buffer.from(each.replace('v1,', ''), 'base64'));
  if (!given.some(each => each.length === expected.length && timingSafeEqual(each, expected)))
    throw new Error('the signature is wrong');
  return JSON.parse(body);
}

/** The ids of the credits that are offered now. */
let offered = new Set();

/**
 * Offers a credit if one organization has enough of it. `available_credits` contains only warehouses that are fresh, so an offer also
 * ends when its organization suspends the app, or when no worker runs.
 */
async function reviewOffers() {
  const rows = await mirror
    .selectFrom('available_credits')
    .select(['credit_id', 'amount_ex_post', 'amount_ex_ante'])
    .execute();
  const isEnough = ([creditId, tonnes]) =>
    rows.some(row => row.credit_id === creditId && (row.amount_ex_post ?? row.amount_ex_ante ?? 0) >= tonnes);
  const previous = offered;
  offered = new Set(
    Object.entries(shop.offers)
      .filter(isEnough)
      .map(([creditId]) => creditId),
  );
  for (const creditId of offered) if (!previous.has(creditId)) console.log(`offered: ${creditId}`);
  for (const creditId of previous) if (!offered.has(creditId)) console.log(`no longer offered: ${creditId}`);
}

/** Mails a certificate. A second event about it does no harm: the file of the mail is the same. */
async function mailCertificate({ row: { retirement_id: retirementId, sha256 } }) {
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
}

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
    if (type === 'certificate.stored' && !erased) await mailCertificate(data);
    else await reviewOffers();
    response.writeHead(204).end();
  } catch (error) {
    // Any other status than 2xx makes carbon-mirror repeat the event later.
    console.error(error.message);
    response.writeHead(400).end();
  }
}

mkdirSync(MAIL_DIR, { recursive: true });
await reviewOffers();
// Some offers end without an event, such as when the worker stops or an organization withdraws a permission.
setInterval(() => void reviewOffers().catch(error => console.error(error.message)), 60_000);
const server = createServer((request, response) => void receiveEvent(request, response));
server.listen(Number(PORT), '127.0.0.1', () => console.log(`the shop listens on ${server.address().port}`));

// Kills a receiver again and again while deliveries arrive, and counts the deliveries that it had answered and then lost.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Database } from '../../dist/src/store/sqlite/driver.js';
import { openConnection, prepareDeliveries } from './load.js';
import { startReceiver } from './receiver-child.js';

/** @import { PreparedDelivery } from './load.js' */
/** @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver */
/** @typedef {{ sha256: string, text: string | null, job: number | null }} Stored */
/**
 * @typedef {{
 *   readonly folder: string,
 *   readonly kills: number,
 *   readonly connections: number,
 *   readonly answeredPerLife: number,
 *   readonly mutant?: '' | 'answer-first' | 'unflushed',
 *   readonly environment?: Readonly<Record<string, string>>,
 *   readonly recover?: () => string,
 *   readonly progress?: (life: number, acknowledged: number) => void,
 * }} KillOptions
 * @typedef {{
 *   readonly kills: number,
 *   readonly killsUnderLoad: number,
 *   readonly acknowledged: number,
 *   readonly stored: number,
 *   readonly lost: number,
 *   readonly halfWritten: number,
 * }} KillResult
 */

const SECRET = 'a-secret-of-the-torture-test';
const APP_ID = 'app-of-the-torture-test';
const INSTALLATIONS = Array.from({ length: 50 }, (_, index) => ({
  id: `installation-${index}`,
  organizationId: `organization-${index}`,
}));

/**
 * Starts, loads and kills a receiver `kills` times. Each life answers at least `answeredPerLife` deliveries. `environment` is added
 * to that of the receiver; `recover` returns the folder of the files that survived.
 * @param {KillOptions} options
 * @returns {Promise<KillResult>}
 */
export async function killReceiver({
  folder,
  kills,
  connections,
  answeredPerLife,
  mutant = '',
  environment = {},
  recover = () => folder,
  progress = () => undefined,
}) {
  /** @type {string[]} */
  const acknowledged = [];
  let killsUnderLoad = 0;
  for (let life = 1; life <= kills; life += 1) {
    const receiver = await startReceiver(folder, { appId: APP_ID, secret: SECRET, mutant, environment });
    const deliveries = prepareDeliveries(answeredPerLife * 2 + connections, {
      appId: APP_ID,
      secret: SECRET,
      installations: INSTALLATIONS,
    });
    const inFlight = await loadAndKill(receiver, deliveries, connections, answeredPerLife, acknowledged);
    if (inFlight === connections) killsUnderLoad += 1;
    progress(life, acknowledged.length);
  }
  return {
    kills,
    killsUnderLoad,
    acknowledged: acknowledged.length,
    ...countLostDeliveries(recover(), acknowledged),
  };
}

/**
 * Sends deliveries, kills the receiver once enough are answered, and returns how many posts were waiting for an answer then.
 * @param {Receiver} receiver
 * @param {readonly PreparedDelivery[]} deliveries
 * @param {number} connections
 * @param {number} answeredPerLife
 * @param {string[]} acknowledged
 */
async function loadAndKill({ child, exited, port }, deliveries, connections, answeredPerLife, acknowledged) {
  let next = 0;
  let answered = 0;
  let waiting = 0;
  /** @type {number | null} */
  let atKill = null;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = openConnection(port);
      for (let delivery = deliveries[next++]; delivery !== undefined; delivery = deliveries[next++]) {
        waiting += 1;
        const sent = connection.send(delivery.bytes);
        if (answered >= answeredPerLife && atKill === null && waiting === connections) {
          atKill = waiting;
          child.kill('SIGKILL');
        }
        const status = await sent;
        waiting -= 1;
        if (status !== 202) break;
        acknowledged.push(computeSha256(delivery.signedData));
        answered += 1;
      }
      connection.close();
    }),
  );
  child.kill('SIGKILL');
  await exited;
  return atKill;
}

/**
 * @param {string} folder
 * @param {readonly string[]} acknowledged
 */
function countLostDeliveries(folder, acknowledged) {
  const db = new Database(join(folder, 'inbox.db'));
  /** @type {import('better-sqlite3').Statement<[], Stored>} */
  const select = db.prepare(
    `SELECT deliveries.signed_text_sha256 AS sha256, signed_data AS text, jobs.id AS job FROM deliveries
     LEFT JOIN signed_texts ON signed_texts.id = deliveries.stored_text_id LEFT JOIN jobs ON jobs.id = deliveries.job_id`,
  );
  const rows = select.all();
  const isIntact = db.pragma('integrity_check', { simple: true }) === 'ok';
  db.close();
  const completeDigests = new Set(
    rows
      .filter(row => row.job !== null && row.text !== null && computeSha256(row.text) === row.sha256)
      .map(row => row.sha256),
  );
  return {
    stored: rows.length,
    lost: acknowledged.filter(digest => !completeDigests.has(digest)).length,
    halfWritten: isIntact
      ? rows.filter(row => !completeDigests.has(row.sha256)).length
      : Number.POSITIVE_INFINITY,
  };
}

/** @param {string} text */
function computeSha256(text) {
  return createHash('sha256').update(text).digest('hex');
}

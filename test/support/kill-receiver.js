// Kills a receiver again and again while deliveries arrive, and counts what it had answered and yet lost.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { openConnection, prepareDeliveries } from './load.js';

const SECRET = 'a-secret-of-the-torture-test';
const APP_ID = 'app-of-the-torture-test';
const INSTALLATIONS = Array.from({ length: 50 }, (_, index) => ({
  id: `installation-${index}`,
  organizationId: `organization-${index}`,
}));
const ENTRY = fileURLToPath(new URL('receiver-process.js', import.meta.url));

/**
 * `answeredPerLife` deliveries are answered before each kill. `command` starts the receiver and `environment` is added to its own.
 * Answers { kills, killsUnderLoad, acknowledged, stored, lost, halfWritten }.
 */
export async function killReceiver({
  folder,
  kills,
  connections,
  answeredPerLife,
  flags = [],
  environment = {},
  recover = () => folder,
  progress = () => undefined,
}) {
  const acknowledged = [];
  let killsUnderLoad = 0;
  for (let life = 1; life <= kills; life += 1) {
    const receiver = await start(folder, flags, environment);
    const deliveries = prepareDeliveries(answeredPerLife * 2 + connections, {
      appId: APP_ID,
      secret: SECRET,
      installations: INSTALLATIONS,
    });
    const inFlight = await loadAndKill(receiver, deliveries, connections, answeredPerLife, acknowledged);
    if (inFlight === connections) killsUnderLoad += 1;
    progress(life, acknowledged.length);
  }
  return { kills, killsUnderLoad, acknowledged: acknowledged.length, ...examine(recover(), acknowledged) };
}

async function start(folder, flags, environment) {
  const child = spawn(process.execPath, [ENTRY, folder, '0', APP_ID, SECRET, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  });
  const exited = once(child, 'exit');
  const line = await Promise.race([once(child.stdout, 'data'), exited]);
  const port = Number(/listening (\d+)/.exec(String(line[0]))?.[1]);
  if (!(port > 0)) throw new Error('the receiver did not start');
  return { child, exited, port };
}

/** Answers how many posts waited for their answer when the receiver was killed. */
async function loadAndKill({ child, exited, port }, deliveries, connections, answeredPerLife, acknowledged) {
  let next = 0;
  let answered = 0;
  let waiting = 0;
  let atKill = null;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = openConnection(port);
      while (next < deliveries.length) {
        const delivery = deliveries[next];
        next += 1;
        waiting += 1;
        const sent = connection.send(delivery.bytes);
        if (answered >= answeredPerLife && atKill === null && waiting === connections) {
          atKill = waiting;
          child.kill('SIGKILL');
        }
        const status = await sent;
        waiting -= 1;
        if (status !== 202) break;
        acknowledged.push(digestOf(delivery.signedData));
        answered += 1;
      }
      connection.close();
    }),
  );
  child.kill('SIGKILL');
  await exited;
  return atKill;
}

function examine(folder, acknowledged) {
  const db = new Database(join(folder, 'inbox.db'));
  const rows = db
    .prepare(
      `SELECT deliveries.digest, signed_data AS text, jobs.id AS job FROM deliveries
       LEFT JOIN signed_texts ON signed_texts.id = deliveries.text_id LEFT JOIN jobs ON jobs.id = deliveries.job_id`,
    )
    .all();
  const sound = db.pragma('integrity_check', { simple: true }) === 'ok';
  db.close();
  const whole = new Set(
    rows
      .filter(row => row.job !== null && row.text !== null && digestOf(row.text) === row.digest)
      .map(row => row.digest),
  );
  return {
    stored: rows.length,
    lost: acknowledged.filter(digest => !whole.has(digest)).length,
    halfWritten: sound ? rows.filter(row => !whole.has(row.digest)).length : Number.POSITIVE_INFINITY,
  };
}

function digestOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

// Compares the events that a subscriber received with the changes that the mirror recorded.
import { readFileSync } from 'node:fs';
import { createChangeLog } from '../../dist/src/app/events/change-log.js';
import { createChangeEvent } from '../../dist/src/events/catalogue/change-event.js';

/** @import { Engine } from '../../dist/src/store/engine.js' */
/** @typedef {{ at: string, id: string, hash: string, type: string, erased: boolean, organization: string | null, number: number | null }} Received */

/**
 * Returns the numbers of all changes that have an event.
 * @param {Engine} engine
 */
export async function listExpected(engine) {
  const reader = await engine.openReader();
  const log = createChangeLog(reader);
  /** @type {Set<number>} */
  const numbers = new Set();
  for await (const change of log.read({ after: 0, to: await log.readNewest(), organizationId: null }))
    if (createChangeEvent(change) !== null) numbers.add(change.number);
  await reader.close();
  return numbers;
}

/**
 * Reads the events that a subscriber has stored in a file, in the order of arrival.
 * @param {string} file
 */
export function readReceived(file) {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map(parseReceived);
}

/**
 * @param {string} line
 * @returns {Received}
 */
function parseReceived(line) {
  return JSON.parse(line);
}

/**
 * Counts the changes whose event was not received.
 * @param {ReadonlySet<number>} expected
 * @param {readonly Received[]} received
 */
export function countMissing(expected, received) {
  const numbers = new Set(received.map(({ number }) => number));
  return [...expected].filter(number => !numbers.has(number)).length;
}

/**
 * Describes the events of an organization that arrived around one of them, in the order of arrival.
 * @param {readonly Received[]} received
 * @param {string | null} organization
 * @param {number} number
 */
function describeOrder(received, organization, number) {
  const own = received.filter(event => event.organization === organization && event.number !== null);
  const index = own.findIndex(event => event.number === number);
  const near = own.slice(Math.max(0, index - 10), index + 5);
  return [organization, ...near.map(event => `${event.number} ${event.type} at ${event.at}`)].join('; ');
}

/**
 * Counts the faults of the received events: missing ones, ones out of order within their organization, and ids with two bodies.
 * Also counts repeated and erased events, which are not faults.
 * @param {ReadonlySet<number>} expected
 * @param {readonly Received[]} received
 */
export function countFaults(expected, received) {
  /** @type {Map<string, string>} */
  const bodies = new Map();
  /** @type {Map<string | null, number>} */
  const newest = new Map();
  let [twoBodies, late, repeated, erased] = [0, 0, 0, 0];
  for (const { id, hash, organization, number, erased: isErased } of received) {
    if (isErased) erased += 1;
    const known = bodies.get(id);
    if (known !== undefined) repeated += 1;
    if (known !== undefined && known !== hash && !isErased) twoBodies += 1;
    if (!isErased) bodies.set(id, hash);
    if (known !== undefined || number === null) continue;
    if (number < (newest.get(organization) ?? 0)) {
      late += 1;
      process.stdout.write(`late: ${describeOrder(received, organization, number)}\n`);
    }
    newest.set(organization, number);
  }
  return { missing: countMissing(expected, received), late, twoBodies, repeated, erased };
}

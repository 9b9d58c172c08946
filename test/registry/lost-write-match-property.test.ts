import { expect, it } from 'vitest';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import {
  createInstallationTokenSource,
  startLoopbackServer,
  createTestHttpClient,
} from '../support/registry-client.js';
import { createRandom, pick } from '../support/random.js';

const FATES = ['answered', 'answered', 'made and cut', 'made and garbled', 'cut', 'refused'] as const;
/** Two amounts, each in two spellings, so that most calls run at the same time as an identical one. */
const AMOUNTS = ['2.5', '2.50', '7', '7.0'];

/** A reservation that the registry holds. */
interface HeldReservation {
  readonly id: string;
  readonly creditId: string;
  readonly amount: number;
  readonly createdAt: string;
  readonly reserver: { readonly id: string };
}

/** Starts a registry that randomly answers a reserve, loses it, carries it out without an answer, or refuses it. */
async function startUnreliableRegistry(seed: number) {
  const random = createRandom(seed);
  const reservations: HeldReservation[] = [];
  const counts = { calls: 0, refused: 0, made: 0 };

  function createReservation(body: string): HeldReservation {
    const { creditId, amount }: { creditId: string; amount: number } = JSON.parse(body);
    const createdAt = new Date().toISOString();
    const reservation = {
      id: `res-${reservations.length + 1}`,
      creditId,
      amount,
      createdAt,
      reserver: { id: 'app-1' },
    };
    reservations.push(reservation);
    counts.made += 1;
    return reservation;
  }

  const loopback = await startLoopbackServer((request, response) => {
    if (request.method === 'GET') {
      response.end(
        JSON.stringify({
          pagination: { total: reservations.length, nextPage: null },
          reservations: reservations,
        }),
      );
      return;
    }
    let body = '';
    request.on('data', part => {
      body += String(part);
    });
    request.on('end', () => {
      counts.calls += 1;
      const fate = pick(random, FATES, 'cut');
      if (fate === 'refused') {
        counts.refused += 1;
        response.writeHead(409).end('{"statusCode":409,"message":"no"}');
        return;
      }
      const made = fate === 'cut' ? null : createReservation(body);
      if (fate === 'answered') response.end(JSON.stringify(made));
      else if (fate === 'made and garbled') response.end('<html>');
      else request.socket.destroy();
    });
  });
  return {
    url: loopback.url,
    held: reservations,
    sent: counts,
  };
}

it('T45 each reserve is sent once and returns its own reservation, whichever answers are lost', async () => {
  const registry = await startUnreliableRegistry(45);
  const { url, held, sent } = registry;
  const client = createOrganizationClient({
    http: createTestHttpClient(url),
    organizationId: 'org-1',
    appId: 'app-1',
    token: createInstallationTokenSource(),
  });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 300 }, (_, index) =>
      client.reserve({
        creditId: `credit-${index % 3}`,
        amount: AMOUNTS[index % AMOUNTS.length] ?? '1',
      }),
    ),
  );
  const got = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value.id] : []));
  const codes = outcomes.flatMap(outcome =>
    outcome.status === 'rejected' ? [String(Object(outcome.reason)['code'])] : [],
  );
  expect(sent.calls).toBe(300);
  expect(new Set(got).size).toBe(got.length);
  expect(got.every(id => held.some(one => one.id === id))).toBe(true);
  expect(got).toHaveLength(sent.made);
  expect(codes.filter(code => code === 'conflict')).toHaveLength(sent.refused);
  expect(codes.filter(code => code === 'outcome_unknown')).toHaveLength(300 - sent.made - sent.refused);
});

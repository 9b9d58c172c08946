import { expect, test } from 'vitest';
import { RegistryError } from '../../src/registry/errors.js';
import { toFailedOrderEnd } from '../../src/sync/orders/failed-order.js';
import { lookUpOrder } from '../../src/sync/orders/look-up-order.js';
import { openJobStage } from '../support/job-stage.js';
import { createOrder } from '../support/orders.js';
import { issueCredit } from '../support/sandbox.js';

test.each([
  [
    'that did not reach the registry',
    new RegistryError('timeout', 'no answer within 30 s'),
    {
      state: 'refused',
      result:
        'The registry could not be reached (no answer within 30 s). Nothing was done. Order again later.',
    },
  ],
  [
    'that the registry refused',
    new RegistryError('invalid', 'status 422', { registryMessage: 'the amount is too small' }),
    { state: 'refused', result: 'The registry refused: the amount is too small. Nothing was done.' },
  ],
  [
    'whose answer was lost',
    new RegistryError('timeout', 'no answer', {
      mayHaveHappened: true,
      candidates: [{ id: 'r1' }, { id: 'r2' }],
    }),
    {
      state: 'unknown',
      result:
        'The answer was lost, and possible results are r1, r2. Look at the registry. Nothing was sent again.',
    },
  ],
])('the result of an order %s tells what happened', (_description, error, end) => {
  expect(toFailedOrderEnd(error)).toEqual(end);
});

test('an interrupted order takes no reservation for its own that is older than the order', async () => {
  const { context, registry, sandbox, app, organization, installationId } = await openJobStage();
  const order = createOrder({
    organizationId: organization.id,
    creditId: issueCredit(sandbox, organization.id),
  });
  registry.reservations.reserve(organization.id, app.id, { creditId: order.creditId, amount: 2.5 });
  const [reserved] = registry.store.tables.reservations.list();
  const createdAt = Date.parse(reserved?.createdAt ?? '');
  const { client } = context;
  const lookUp = (sentAt: number) =>
    lookUpOrder(
      { ...context, client: { ...client, http: { ...client.http, sleep: async () => undefined } } },
      client.organization(installationId, organization.id),
      { ...order, id: 1, state: 'sending', sentAt: new Date(sentAt).toISOString() },
    );
  expect(await lookUp(createdAt)).toMatchObject({ state: 'done', reservationId: reserved?.id });
  expect(await lookUp(createdAt + 1000)).toEqual({
    state: 'unknown',
    result: 'The answer was lost, and no result was found. Look at the registry. Nothing was sent again.',
  });
});

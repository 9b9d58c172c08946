import { expect, test } from 'vitest';
import { RESOURCES } from '../../src/sync/plan.js';
import { startProgram } from '../support/program.js';
import { createOrganization, issueCredit } from '../support/sandbox.js';

test('an installation fills the mirror', async () => {
  const program = await startProgram();
  const organization = createOrganization(program.sandbox);
  issueCredit(program.sandbox, organization.id, { amount: 250 });
  issueCredit(program.sandbox, organization.id, { place: 'inventory', amount: 40 });
  program.registry.installations.install(program.app.id, organization.id);
  await program.rest();
  expect(program.ended).toMatchObject([{ kind: 'installation', outcome: 'read' }]);
  expect(program.rows('SELECT state, organization_id FROM installations')).toEqual([
    { state: 'active', organization_id: organization.id },
  ]);
  expect(program.rows("SELECT resource FROM freshness WHERE state = 'current' ORDER BY resource")).toEqual(
    RESOURCES.toSorted().map(resource => ({ resource })),
  );
  expect(program.rows('SELECT amount FROM available_credits')).toEqual([{ amount: 250 }]);
});

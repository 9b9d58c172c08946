import { sql } from 'kysely';
import { tableRef, select, sqlStatement } from '../sql/columns.js';
import { CERTIFICATE_LAWS } from './certificate-laws.js';
import { COUNT_LAWS, SYNC_LAWS } from './sync-laws.js';
import { createLaw, describeRow, type Law } from './law.js';
import { VERSION_LAWS } from './version-laws.js';

const balanceOfRetirements = tableRef('mirror.balance_retirements');
const balanceOfCredits = tableRef('mirror.balance_credits');

/** Laws about sums that can be calculated in two ways, with the same result. */
const BALANCE_LAWS: readonly Law[] = [
  createLaw('retirements add up by month, by beneficiary and by state of certificate', ({ db }) => {
    const { organization_id: organizationId, reckoning, value } = balanceOfRetirements;
    return db
      .selectFrom('mirror.balance_retirements')
      .select(sql<string>`${organizationId} || ', ' || ${reckoning} || ' ' || ${value}`.as('violation'))
      .where('balanced', '=', 0);
  }),
  createLaw(
    'the first amount of each credit, plus increases, minus decreases, is the listed amount',
    ({ db }) => {
      const { organization_id: organizationId, place, credit_id: creditId } = balanceOfCredits;
      return db
        .selectFrom('mirror.balance_credits')
        .select(sql<string>`${organizationId} || ', ' || ${place} || ' ' || ${creditId}`.as('violation'))
        .where('balanced', '=', 0);
    },
  ),
];

const fence = tableRef('mirror.fences');
const counter = tableRef('inbox.claims');
const delivery = tableRef('inbox.deliveries');
const job = tableRef('inbox.jobs');

const nameOfDelivery = sql<string>`'delivery ' || ${delivery.id}`;

const INBOX_LAWS: readonly Law[] = [
  createLaw(
    'no claim in the mirror is higher than the claim counter of the inbox',
    () => sqlStatement`SELECT ${select({ violation: sql<string>`${describeRow(fence.organization_id, fence.part)} || ': ' || ${fence.claim}` })}
      FROM ${fence()} WHERE ${fence.claim} > (SELECT ${counter.last} FROM ${counter()})`,
  ),
  createLaw('each accepted delivery has a job', ({ db }) =>
    db
      .selectFrom('inbox.deliveries')
      .select(nameOfDelivery.as('violation'))
      .where('verdict', '=', 'accepted')
      .where('job_id', 'is', null),
  ),
  createLaw('each part of an installation has at most one valid claim', ({ db }, { now }) =>
    db
      .selectFrom('inbox.jobs')
      .select(describeRow(job.installation_id, job.part).as('violation'))
      .where('state', '=', 'running')
      .where('claimed_until', '>', now)
      .where('installation_id', 'is not', null)
      .groupBy(['installation_id', 'part'])
      .having(eb => eb(eb.fn.countAll(), '>', sql.lit(1))),
  ),
  createLaw('signed_text_sha256 of each delivery is the hash of its stored signed text', ({ db }) =>
    db
      .selectFrom('inbox.deliveries as d')
      .innerJoin('inbox.signed_texts as t', 't.id', 'd.stored_text_id')
      .select(sql<string>`'delivery ' || ${tableRef('inbox.deliveries', 'd').id}`.as('violation'))
      .whereRef('t.sha256', '<>', 'd.signed_text_sha256'),
  ),
  createLaw('no delivery is dated in the future', ({ db }, { soon }) =>
    db.selectFrom('inbox.deliveries').select(nameOfDelivery.as('violation')).where('received_at', '>', soon),
  ),
];

/** All data laws that hold on both engines. */
export const LAWS: readonly Law[] = [
  ...VERSION_LAWS,
  ...SYNC_LAWS,
  ...COUNT_LAWS,
  ...CERTIFICATE_LAWS,
  ...BALANCE_LAWS,
  ...INBOX_LAWS,
];

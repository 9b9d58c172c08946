// Fills an empty, migrated mirror with one that is years old, by SQL alone: a million older versions take seconds.
// Organization n has ten credits in its warehouse, which a delivery's read changed again and again for `days` days, and lists that a
// schedule read all that time without finding anything new. For two of its credits a reservation and its retirement are finished. All data
// laws hold on it, and each document says what the columns of its row say.

/** @import { Tables } from '../tables.js' */

const DAY_SECONDS = 86_400;
const CREDITS = 10;
/** Credits of each organization of which a reservation retired a part. */
const RESERVED = 2;
const RETIREMENTS = 20;
/** Lists that the schedule reads. */
const SCHEDULED = ['organization', 'warehouse', 'inventory', 'reservations', 'retirements'];

/**
 * What SQLite and PostgreSQL say differently.
 * @type {Record<'sqlite' | 'postgres', { series: (count: number) => string, instant: (seconds: string) => string, text: (seconds: string) => string, object: (pairs: string) => string }>}
 */
const WORDS = {
  sqlite: {
    series: count =>
      `(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n)`,
    instant: seconds => `strftime('%Y-%m-%dT%H:%M:%S.000Z', ${seconds}, 'unixepoch')`,
    text: seconds => WORDS.sqlite.instant(seconds),
    object: pairs => `json_object(${pairs})`,
  },
  postgres: {
    series: count => `(SELECT generate_series(1, ${count}) AS i)`,
    instant: seconds => `to_timestamp(${seconds})`,
    text: seconds => `mirror.as_text(to_timestamp(${seconds}))`,
    object: pairs => `jsonb_build_object(${pairs})`,
  },
};

/**
 * @typedef {object} AgedOptions
 * @property {number} [organizations]
 * @property {number} [days] how long the mirror has been filled
 * @property {number} [pastVersions] older versions of credits, over all organizations
 * @property {number} [readsPerDay] how often the schedule read each list
 * @property {boolean} [readRows] whether each of these reads has a row in syncs
 * @property {number} [now] the end of that time, in epoch milliseconds
 */

/**
 * Writes the rows. The mirror must be empty.
 * @param {Pick<Tables, 'change'>} tables
 * @param {'sqlite' | 'postgres'} engine
 * @param {AgedOptions} [options]
 */
export async function fillAgedMirror(
  tables,
  engine,
  {
    organizations = 200,
    days = 90,
    pastVersions = 1_000_000,
    readsPerDay = 24,
    now = Date.now(),
    readRows = false,
  } = {},
) {
  const { series, instant, object, text } = WORDS[engine];
  const orgs = organizations;
  const end = Math.floor(now / 1000) - 120;
  const start = end - days * DAY_SECONDS;
  /** Reads that changed all credits of an organization: one more than each credit has older versions. */
  const rounds = Math.max(2, Math.ceil(pastVersions / (orgs * CREDITS)) + 1);
  const step = Math.floor((days * DAY_SECONDS - orgs) / rounds);
  const organization = (o = 'o.i') => `'organization-' || ${o}`;
  /** Numbers and syncs rise with time: organizations, installations, retirements, reservations, then each round of credits. */
  const firstReservation = (2 + RETIREMENTS) * orgs;
  const firstCredit = firstReservation + RESERVED * orgs;
  /** Round r of organization o: when it read, its sync, and the number of its version of credit c. */
  const readAt = (round = 'r.i') => `${start} + (${round} - 1) * ${step} + o.i`;
  const syncId = (round = 'r.i') => `4 * ${orgs} + (${round} - 1) * ${orgs} + o.i`;
  const version = (round = 'r.i') =>
    `${firstCredit} + ((${round} - 1) * ${orgs} + o.i - 1) * ${CREDITS} + c.i`;
  const lastVersion = firstCredit + rounds * orgs * CREDITS;
  const tonnes = `(100 + (r.i * 7 + c.i * 3) % 50)`;
  const credit = `'credit-' || o.i || '-' || c.i`;
  const project = `'project-' || c.i`;
  const projectName = `'Project ' || c.i`;
  const serialization = `'ICR-ISL-' || o.i || '-' || c.i || '-R-0-2021'`;
  const sameInDocuments = `"organizationId":"' || ${organization()} || '","serialization":"' || ${serialization} || '","project":{"id":"' || ${project} || '","fullName":"' || ${projectName} || '"}`;
  const document = `'{"creditId":"' || ${credit} || '","type":"exPost","vintage":"2021","amount":' || ${tonnes} || ',${sameInDocuments}}'`;
  const cells = `'type', 'exPost', 'unit', NULL, 'fault', NULL, 'amount', ${tonnes}, 'vintage', '2021', 'token_id', NULL,
    'project_id', ${project}, 'amount_exact', '' || ${tonnes}, 'amount_micro', ${tonnes} * 1000000, 'inventory_id', '',
    'project_name', ${projectName}, 'serialization', ${serialization}, 'token_address', NULL`;
  const everyOrganization = `${series(orgs)} AS o`;
  const everyRound = `${everyOrganization} CROSS JOIN ${series(rounds)} AS r`;
  const everyCredit = `CROSS JOIN ${series(CREDITS)} AS c`;
  const sync = (columns = '') =>
    `INSERT INTO syncs (id, organization_id, resource, trigger, claim, started_at, finished_at, last_answer_at, state, requests${columns})`;
  const times = (/** @type {string} */ at) =>
    `${instant(at)}, ${instant(`${at} + 1`)}, ${instant(`${at} + 1`)}, 'complete', 1`;

  await tables.change(
    `INSERT INTO origin (only_row, base_url, app_id, schedule_seconds, created_at, worker_seen_at, listed_at)
     SELECT 1, 'http://registry', 'app-1', 900, ${instant(`${start}`)}, ${instant(`${end + 115}`)}, ${instant(`${end}`)}`,
  );
  await tables.change(
    `${sync(', rows_added, changes_up_to')} SELECT o.i, ${organization()}, 'organization', 'schedule', 1, ${times(`${start}`)}, 1, o.i
     FROM ${everyOrganization}`,
  );
  await tables.change(
    `${sync(', rows_added, changes_up_to')} SELECT ${orgs} + o.i, ${organization()}, 'installation', 'delivery', 1, ${times(`${start}`)}, 1, ${orgs} + o.i
     FROM ${everyOrganization}`,
  );
  await tables.change(
    `INSERT INTO organizations (version, id, full_name, valid_from, sync_id, document)
     SELECT o.i, ${organization()}, 'Organization ' || o.i, ${instant(`${start} + 1`)}, o.i,
       '{"id":"' || ${organization()} || '","fullName":"Organization ' || o.i || '"}' FROM ${everyOrganization}`,
  );
  await tables.change(
    `INSERT INTO installations (version, id, organization_id, app_id, state, permissions, valid_from, sync_id, document)
     SELECT ${orgs} + o.i, 'installation-' || o.i, ${organization()}, 'app-1', 'active',
       '{"organization_info":"VIEW","organization_warehouse":"WRITE"}', ${instant(`${start} + 1`)}, ${orgs} + o.i,
       '{"id":"installation-' || o.i || '","appId":"app-1","organizationId":"' || ${organization()} || '"}'
     FROM ${everyOrganization}`,
  );
  await tables.change(
    `${sync(', rows_added, rows_changed, newest_delivery_id, job_id, changes_up_to')}
     SELECT ${syncId()}, ${organization()}, 'warehouse', 'delivery', r.i, ${times(readAt())},
       CASE r.i WHEN 1 THEN ${CREDITS} ELSE 0 END, CASE r.i WHEN 1 THEN 0 ELSE ${CREDITS} END, ${syncId()}, ${syncId()},
       ${firstCredit} + ((r.i - 1) * ${orgs} + o.i) * ${CREDITS}
     FROM ${everyRound}`,
  );
  await tables.change(
    `INSERT INTO past (closed_version, version, resource, organization_id, key, valid_from, valid_to, sync_id, closed_by, cells, document, is_removed)
     SELECT ${version('(r.i + 1)')}, ${version()}, 'warehouse', ${organization()}, ${credit}, ${instant(`${readAt()} + 1`)},
       ${instant(`${readAt('(r.i + 1)')} + 1`)}, ${syncId()}, ${syncId('(r.i + 1)')}, ${object(cells)}, ${document}, 0
     FROM ${everyRound} ${everyCredit} WHERE r.i < ${rounds} ORDER BY r.i, o.i, c.i`,
  );
  await tables.change(
    `INSERT INTO warehouse_credits (version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type,
       amount, amount_micro, amount_exact, valid_from, sync_id, document)
     SELECT ${version()}, ${organization()}, ${credit}, '', ${project}, ${projectName}, ${serialization}, '2021', 'exPost', ${tonnes},
       ${tonnes} * 1000000, '' || ${tonnes}, ${instant(`${readAt()} + 1`)}, ${syncId()}, ${document}
     FROM ${everyRound} ${everyCredit} WHERE r.i = ${rounds} ORDER BY o.i, c.i`,
  );
  const retirementSync = `2 * ${orgs} + o.i`;
  const everyRetirement = `${everyOrganization} CROSS JOIN ${series(RETIREMENTS)} AS c`;
  await tables.change(
    `${sync(', rows_added, changes_up_to')} SELECT ${retirementSync}, ${organization()}, 'retirements', 'delivery', 1, ${times(`${start} + 200`)},
       ${RETIREMENTS}, 2 * ${orgs} + o.i * ${RETIREMENTS} FROM ${everyOrganization}`,
  );
  await tables.change(
    `INSERT INTO retirements (version, organization_id, id, project_id, project_name, serialization, vintage, beneficiary, amount,
       amount_micro, amount_exact, is_claimed, created_at, valid_from, sync_id, document)
     SELECT 2 * ${orgs} + (o.i - 1) * ${RETIREMENTS} + c.i, ${organization()}, 'retirement-' || o.i || '-' || c.i, ${project},
       ${projectName}, ${serialization}, '2021', 'Beneficiary ' || c.i, 5, 5000000, '5', 1, ${instant(`${start} + 3600 + c.i`)},
       ${instant(`${start} + 201`)}, ${retirementSync},
       '{"id":"retirement-' || o.i || '-' || c.i || '","vintage":"2021","beneficiaryName":"Beneficiary ' || c.i || '","amount":5,"isClaimed":true,"createdAt":"' || ${text(`${start} + 3600 + c.i`)} || '",${sameInDocuments}}'
     FROM ${everyRetirement} ORDER BY o.i, c.i`,
  );
  const reservationSync = `3 * ${orgs} + o.i`;
  const everyReservation = `${everyOrganization} CROSS JOIN ${series(RESERVED)} AS c`;
  await tables.change(
    `${sync(', rows_added, changes_up_to')} SELECT ${reservationSync}, ${organization()}, 'reservations', 'delivery', 1, ${times(`${start} + 4000`)},
       ${RESERVED}, ${firstReservation} + o.i * ${RESERVED} FROM ${everyOrganization}`,
  );
  await tables.change(
    `INSERT INTO reservations (version, organization_id, id, credit_id, project_id, project_name, serialization, type, amount, amount_micro,
       amount_exact, state, is_complete, reserved_to_at, created_at, updated_at, valid_from, sync_id, document)
     SELECT ${firstReservation} + (o.i - 1) * ${RESERVED} + c.i, ${organization()}, 'reservation-' || o.i || '-' || c.i, ${credit}, ${project},
       ${projectName}, ${serialization}, 'exPost', 5, 5000000, '5', 'finished', 1, ${instant(`${start} + 4200`)}, ${instant(`${start} + 3600`)},
       ${instant(`${start} + 3700`)}, ${instant(`${start} + 4001`)}, ${reservationSync},
       '{"id":"reservation-' || o.i || '-' || c.i || '","creditId":"' || ${credit} || '","type":"exPost","amount":5,"state":"finished","isComplete":true,"reservedToDate":"' || ${text(`${start} + 4200`)} || '","createdAt":"' || ${text(`${start} + 3600`)} || '","updatedAt":"' || ${text(`${start} + 3700`)} || '",${sameInDocuments}}'
     FROM ${everyReservation} ORDER BY o.i, c.i`,
  );
  await tables.change(
    `INSERT INTO project_references (organization_id, project_id)
     SELECT ${organization()}, ${project} FROM ${everyRetirement}`,
  );
  await tables.change(`UPDATE version_counter SET last = ${lastVersion}`);
  await fillScheduledReads(tables, engine, {
    orgs,
    days,
    readsPerDay,
    start,
    end,
    firstId: syncId(`${rounds + 1}`).replace('o.i', '0'),
    rows: readRows,
  });
  await tables.change(
    engine === 'sqlite'
      ? 'ANALYZE'
      : 'ANALYZE past, syncs, resource_states, warehouse_credits, retirements, reservations, unchanged_spans',
  );
}

/**
 * Writes the scheduled reads that found nothing new, and the state of each list: a span for each day, the last of them open.
 * With `rows` each read has a row in syncs, as reads that a person requested have.
 * @param {Pick<Tables, 'change'>} tables
 * @param {'sqlite' | 'postgres'} engine
 * @param {{ orgs: number, days: number, readsPerDay: number, start: number, end: number, firstId: string, rows: boolean }} reads
 */
async function fillScheduledReads(tables, engine, { orgs, days, readsPerDay, start, end, firstId, rows }) {
  const { series, instant } = WORDS[engine];
  const interval = Math.floor(DAY_SECONDS / readsPerDay);
  const lists = SCHEDULED.map((name, index) => `SELECT ${index} AS place, '${name}' AS resource`).join(
    ' UNION ALL ',
  );
  const everyList = `${series(orgs)} AS o CROSS JOIN (${lists}) AS l`;
  /** Days end at the hour of `end`, so that each span lies within what the mirror takes for one day only by its dates. */
  const firstRead = (day = 'd.i') =>
    `${end} - (${days} - ${day} + 1) * ${DAY_SECONDS} + ${interval} + o.i % 60`;
  const lastRead = (day = 'd.i') => `${end} - (${days} - ${day}) * ${DAY_SECONDS} - 60 + o.i % 60`;
  const id = (/** @type {string} */ read) =>
    `${firstId} + ((${read} - 1) * ${orgs} + o.i) * ${SCHEDULED.length} + l.place`;
  if (rows) {
    const at = `${end} - (${days * readsPerDay} - q.i) * ${interval} - 60 + o.i % 60`;
    await tables.change(
      `INSERT INTO syncs (id, organization_id, resource, trigger, claim, started_at, finished_at, last_answer_at, state, requests, rows_unchanged)
       SELECT ${id('q.i')}, 'organization-' || o.i, l.resource, 'person', q.i,
         ${instant(at)}, ${instant(`${at} + 1`)}, ${instant(`${at} + 1`)}, 'complete', 1, 1
       FROM ${series(days * readsPerDay)} AS q CROSS JOIN ${everyList}`,
    );
  } else {
    await tables.change(
      `INSERT INTO unchanged_spans (organization_id, resource, first_started_at, first_finished_at, last_started_at, last_finished_at,
         reads, requests, bytes)
       SELECT 'organization-' || o.i, l.resource, ${instant(firstRead())}, ${instant(`${firstRead()} + 1`)},
         ${instant(lastRead())}, ${instant(`${lastRead()} + 1`)}, ${readsPerDay}, ${readsPerDay}, ${readsPerDay} * 300
       FROM ${series(days)} AS d CROSS JOIN ${everyList} WHERE d.i < ${days} ORDER BY d.i, o.i, l.place`,
    );
  }
  await tables.change(
    `INSERT INTO resource_states (organization_id, resource, rows, first_complete_at, as_of, attempted_at, outcome, answer_status, answer_form,
       last_answer_at, stamp_at, requests, duration_ms, read_at, read_claim, unchanged_reads, unchanged_first_started_at,
       unchanged_first_finished_at, unchanged_last_finished_at)
     SELECT 'organization-' || o.i, l.resource, CASE l.resource WHEN 'warehouse' THEN ${CREDITS} WHEN 'organization' THEN 1 WHEN 'retirements' THEN ${RETIREMENTS} WHEN 'reservations' THEN ${RESERVED} ELSE 0 END,
       ${instant(`${start} + 300`)}, ${instant(lastRead())}, ${instant(lastRead())}, 'complete', 200, 'list', ${instant(`${lastRead()} + 1`)},
       ${instant(`${end} - 1`)}, 1, 1000, ${instant(lastRead())}, 1${
         rows
           ? ', 0, NULL, NULL, NULL'
           : `, ${readsPerDay}, ${instant(firstRead())}, ${instant(`${firstRead()} + 1`)}, ${instant(`${lastRead()} + 1`)}`
       }
     FROM ${series(days)} AS d CROSS JOIN ${everyList} WHERE d.i = ${days}`,
  );
}

import type { InboxPort } from '../../inbox/port.js';
import { fixed, statement } from '../statement.js';
import { type AtTime, type InboxDatabase, NOW } from './database.js';

type Old = AtTime & { readonly ms: number };
type Numbered = { readonly id: number };

const DAY_MS = 86_400_000;
const BATCH = 500;

/** Who prunes removes the same deliveries as their texts. */
const ALONE = fixed(({ alone }) => alone('inbox.deliveries'));
/** The newest stays: SQLite would give its id to the next one, and what it led to would name that. */
const OLD = `inbox.deliveries WHERE received_at < @before AND id < (SELECT max(id) FROM inbox.deliveries) ORDER BY received_at, id LIMIT ${BATCH}`;
const DONE = `inbox.jobs WHERE state = 'done' AND finished_at < @before ORDER BY finished_at LIMIT ${BATCH}`;

/** What is old is looked for once: where it stood in the condition, PostgreSQL looked for it again for each row. */
function removal(old: string, from: string) {
  const text = `WITH old AS MATERIALIZED (SELECT ${old})
    DELETE FROM ${from} id IN (SELECT id FROM old) RETURNING id`;
  return statement<Old, Numbered>(dialect => text.replaceAll('@before', dialect.later(NOW(dialect), '@ms')));
}

/** A signed text goes with its last delivery. Failed, waiting and running jobs stay. */
const PRUNE_TEXTS = removal(
  `stored_text_id AS id FROM ${OLD}`,
  'inbox.signed_texts WHERE last_received_at < @before AND',
);
const PRUNE_DELIVERIES = removal(`id FROM ${OLD}`, 'inbox.deliveries WHERE');
const PRUNE_JOBS = removal(`id FROM ${DONE}`, 'inbox.jobs WHERE');

const ERASING = fixed(({ erasing }) => erasing);
const ids = ({ rows }: { rows: (json: string, name: string, columns: { id: 'int' }) => string }) =>
  `(SELECT named.id FROM ${rows('@ids', 'named', { id: 'int' })})`;
const EMPTY = statement<{ ids: string }>(
  dialect => `UPDATE inbox.signed_texts SET signed_data = '' WHERE id IN ${ids(dialect)}`,
);
const COUNT = statement<{ ids: string }, { readonly count: number }>(
  dialect => `SELECT count(*) AS count FROM inbox.deliveries WHERE stored_text_id IN ${ids(dialect)}`,
);

export function createKeeping({ commit, now }: InboxDatabase): Pick<InboxPort, 'prune' | 'eraseSignedTexts'> {
  return {
    prune: async days => {
      if (days === 0) return null;
      const old = { now: now(), ms: -days * DAY_MS };
      const [, texts, deliveries, jobs] = await commit(
        ALONE,
        PRUNE_TEXTS(old),
        PRUNE_DELIVERIES(old),
        PRUNE_JOBS(old),
      );
      if (deliveries.length + jobs.length === 0) return null;
      return { deliveries: deliveries.length, signedTexts: texts.length, jobs: jobs.length };
    },
    eraseSignedTexts: async wanted => {
      const named = { ids: JSON.stringify(wanted.map(id => [id])) };
      const [, , [counted]] = await commit(ERASING, EMPTY(named), COUNT(named));
      return counted?.count ?? 0;
    },
  };
}

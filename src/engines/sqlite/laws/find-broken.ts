import type { Broken } from '../../engine.js';
import { type Files, openBoth } from '../open-both.js';
import type { Sqlite } from '../open.js';
import { CERTIFICATE_LAWS } from './certificates.js';
import { COUNT_LAWS } from './counts.js';
import { INBOX_LAWS } from './inbox.js';
import type { Law } from './law.js';
import { RUN_LAWS } from './runs.js';
import { VERSION_LAWS } from './versions.js';

const SHOWN = 5;
const LAWS: readonly Law[] = [
  ...VERSION_LAWS,
  ...RUN_LAWS,
  ...COUNT_LAWS,
  ...CERTIFICATE_LAWS,
  ...INBOX_LAWS,
];

/** What must hold in any mirror at any moment, whatever the registry said. */
export function findBroken(files: Files, now: number): Broken[] {
  const db = openBoth(files);
  try {
    const at = new Date(now).toISOString();
    return [...structure(db), ...LAWS.flatMap(law => breaks(db, law, at))];
  } finally {
    db.close();
  }
}

function structure(db: Sqlite): Broken[] {
  const found: Broken[] = [];
  for (const name of ['main', 'inbox'] as const) {
    const answers = db.prepare<[], string>(`PRAGMA ${name}.integrity_check(${SHOWN})`).pluck().all();
    for (const answer of answers) {
      if (answer !== 'ok') found.push({ law: `SQLite finds ${fileOf(name)} whole`, where: answer });
    }
    const foreign = db.prepare<[], { table: string }>(`PRAGMA ${name}.foreign_key_check`).all();
    for (const { table } of foreign.slice(0, SHOWN)) {
      found.push({ law: `foreign keys of ${fileOf(name)} are kept`, where: table });
    }
  }
  return found;
}

function fileOf(name: 'main' | 'inbox'): string {
  return name === 'main' ? 'mirror.db' : 'inbox.db';
}

function breaks(db: Sqlite, { law, sql }: Law, at: string): Broken[] {
  return db
    .prepare<[], { found: string }>(`${sql.replaceAll(':now', `'${at}'`)} LIMIT ${SHOWN}`)
    .all()
    .map(({ found }) => ({ law, where: found }));
}

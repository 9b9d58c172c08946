import type { Broken } from '../../engine.js';
import { type Files, openBoth } from '../open-both.js';
import type { Sqlite } from '../open.js';
import { askOf, type Law } from '../../laws/law.js';
import { lawsIn } from '../../laws/laws.js';
import { INSTANT_LAWS, SAY } from './say.js';

const SHOWN = 5;
const LAWS: readonly Law[] = [...lawsIn(SAY), ...INSTANT_LAWS];

/** What must hold in any mirror at any moment, whatever the registry said. */
export function findBroken(files: Files, now: number): Broken[] {
  const db = openBoth(files);
  try {
    return [...structure(db), ...LAWS.flatMap(law => breaks(db, law, now))];
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

function breaks(db: Sqlite, law: Law, now: number): Broken[] {
  return db
    .prepare<[], { found: string }>(askOf(law, now, SHOWN))
    .all()
    .map(({ found }) => ({ law: law.law, where: found }));
}

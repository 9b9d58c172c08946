import { existsSync, readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package.js';
import type { SavedQuery } from '../console/sql/sql-runner.js';

/** Reads example questions and their SQL from docs/sql.md. Returns no questions if the file is missing. */
export function readSavedQueries(): SavedQuery[] {
  const file = new URL('docs/sql.md', PACKAGE_FOLDER);
  return existsSync(file) ? parseSavedQueries(readFileSync(file, 'utf8')) : [];
}

/** Finds each question in the markdown text with the SQL block below it. */
function parseSavedQueries(markdown: string): SavedQuery[] {
  const found = markdown.matchAll(/^([A-Z][^\n?]*\?)[^`]*?^```sql\n([^]*?)^```$/gm);
  return [...found].map(([, title = '', sql = '']) => ({ title, sql: sql.trim() }));
}

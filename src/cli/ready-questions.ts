import { existsSync, readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package.js';

interface ReadyQuestion {
  readonly title: string;
  readonly sql: string;
}

/** The questions that docs/sql.md asks in SQL, each with its sentence before it. None where it was not shipped. */
export function readReadyQuestions(): ReadyQuestion[] {
  const file = new URL('docs/sql.md', PACKAGE_FOLDER);
  return existsSync(file) ? parseQuestions(readFileSync(file, 'utf8')) : [];
}

function parseQuestions(markdown: string): ReadyQuestion[] {
  const found = markdown.matchAll(/^([A-Z][^\n?]*\?)[^`]*?^```sql\n([^]*?)^```$/gm);
  return [...found].map(([, title = '', sql = '']) => ({ title, sql: sql.trim() }));
}

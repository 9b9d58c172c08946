import { existsSync, readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package.js';

/** A question that docs/sql.md answers with a query. */
interface ReadyQuestion {
  readonly title: string;
  readonly sql: string;
}

/** Reads the ready questions from docs/sql.md. Returns none if this installation has no docs. */
export function readReadyQuestions(): ReadyQuestion[] {
  const file = new URL('docs/sql.md', PACKAGE_FOLDER);
  return existsSync(file) ? parseQuestions(readFileSync(file, 'utf8')) : [];
}

function parseQuestions(markdown: string): ReadyQuestion[] {
  const found = markdown.matchAll(/^([A-Z][^\n?]*\?)[^`]*?^```sql\n([^]*?)^```$/gm);
  return [...found].map(([, title = '', sql = '']) => ({ title, sql: sql.trim() }));
}

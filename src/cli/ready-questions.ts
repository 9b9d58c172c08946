import { existsSync, readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../package.js';

interface Question {
  readonly title: string;
  readonly sql: string;
}

/** The questions that docs/sql.md asks in SQL, each with its sentence before it. None where it was not shipped. */
export function readQuestions(): Question[] {
  const file = new URL('docs/sql.md', PACKAGE_FOLDER);
  return existsSync(file) ? questionsIn(readFileSync(file, 'utf8')) : [];
}

function questionsIn(markdown: string): Question[] {
  const found = markdown.matchAll(/^([A-Z][^\n?]*\?)[^`]*?^```sql\n([^]*?)^```$/gm);
  return [...found].map(([, title = '', sql = '']) => ({ title, sql: sql.trim() }));
}

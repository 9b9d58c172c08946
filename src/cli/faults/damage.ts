/** What a person reads where a database cannot be believed; null for any other error. */
export function describeDamage(error: unknown): readonly string[] | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  const code = String(error.code);
  const file = 'file' in error ? String(error.file) : '';
  if (error.name === 'StoreError' && code === 'damaged') return [error.message, RESTORE];
  if (code === 'foreign_log') return [error.message, adviceFor(file)];
  if (!/^(SQLITE_CORRUPT|SQLITE_NOTADB|damaged)/.test(code)) return null;
  return [`A database is damaged: ${error.message}.`, RESTORE, WHICH];
}

const RESTORE =
  'Stop every process of carbon-mirror, and put a backup back with "carbon-mirror restore FOLDER".';
const WHICH = 'See "carbon-mirror doctor" for which one it is.';

function adviceFor(file: string): string {
  return `Nothing was read or written. If the file comes from a backup: stop every process of carbon-mirror, remove ${file}-wal, ${file}-shm and ${file}-journal, and try again.`;
}

/** What a person reads where a database cannot be believed; null for any other error. */
export function describeDamage(error: unknown): readonly string[] | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  if (error.name === 'DatabaseError') return [error.message, ...adviceFor(code, fileOf(error))];
  if (!/^(SQLITE_CORRUPT|SQLITE_NOTADB|damaged)/.test(code)) return null;
  return [`A database is damaged: ${error.message}.`, RESTORE, WHICH];
}

const RESTORE =
  'Stop every process of carbon-mirror, and put a backup back with "carbon-mirror restore FOLDER".';
const WHICH = 'See "carbon-mirror doctor" for which one it is.';

function adviceFor(code: string, file: string): readonly string[] {
  if (code === 'damaged') return [RESTORE];
  if (code !== 'foreign_log') return [];
  return [
    `Nothing was read or written. If the file comes from a backup: stop every process of carbon-mirror, remove ${file}-wal, ${file}-shm and ${file}-journal, and try again.`,
  ];
}

function fileOf(error: Error): string {
  return 'file' in error ? String(error.file) : '';
}

import type { Database } from 'better-sqlite3';

/** Values that outlive a restart, as JSON under a name. */
export function readSetting(db: Database, name: string): unknown {
  const row = db.prepare<[string], { value: string }>('select value from settings where name = ?').get(name);
  return row === undefined ? undefined : JSON.parse(row.value);
}

export function writeSetting(db: Database, name: string, value: unknown): void {
  db.prepare(
    'insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
  ).run(name, JSON.stringify(value));
}

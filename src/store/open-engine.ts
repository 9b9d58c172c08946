import type { Engine, OnConnectionLost } from './engine.js';
import { createPostgresEngine } from './postgres/engine.js';
import { createSqliteEngine } from './sqlite/engine.js';
import type { StoreSettings } from './settings.js';

/** Returns the engine that the settings choose: SQLite or PostgreSQL. The engine opens a database only when it is used. */
export function openEngine(
  settings: StoreSettings,
  onConnectionLost: OnConnectionLost = () => undefined,
): Engine {
  if (settings.database === null) return createSqliteEngine(settings);
  const files = createSqliteEngine({ ...settings, database: null });
  return createPostgresEngine(settings.database, { onConnectionLost, files });
}

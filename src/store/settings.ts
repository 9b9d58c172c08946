/** The settings that say where data is stored. */
export interface StoreSettings {
  readonly dataDir: string;
  /** Null derives the reserve from the size of the disk. */
  readonly diskReserveMb: number | null;
  /** The PostgreSQL database; null for SQLite files in `dataDir`. */
  readonly database: DatabaseSettings | null;
}

export interface DatabaseSettings {
  readonly url: string;
  /** The URL for people's SQL queries; null uses `url`. */
  readonly queryUrl: string | null;
  /** Maximum number of connections; null for the default of the process role. */
  readonly pool: number | null;
  /** With `process`, times in inbox rows come from the clock of each process; by default from the clock of the database server. */
  readonly clock?: 'process';
}

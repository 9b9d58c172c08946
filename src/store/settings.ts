/** Where a program keeps things, as the settings say. */
export interface StoreSettings {
  readonly dataDir: string;
  /** Null where the size of the disk decides. */
  readonly diskReserveMb: number | null;
  /** A PostgreSQL; null where it is the files of `dataDir`. */
  readonly database: DatabaseSettings | null;
}

export interface DatabaseSettings {
  readonly url: string;
  /** Whom people ask as; null where that is who writes. */
  readonly queryUrl: string | null;
  /** Connections at most; null where the role decides. */
  readonly pool: number | null;
  /** What dates the inbox: the server, which is one clock for all machines, unless it is each process by its own. */
  readonly clock?: 'process';
}

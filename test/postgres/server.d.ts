export interface Server {
  /** The folder of its socket. */
  readonly host: string;
  readonly port: number;
  readonly pid: number;
}

/** Tests that need one fail with these words. */
export interface NoServer {
  readonly missing: string;
}

export interface StartedServer {
  readonly server: Server | NoServer;
  readonly stop: () => Promise<void>;
}

/** A PostgreSQL of its own, which goes with this process however that ends. */
export function startServer(settings: readonly string[]): Promise<StartedServer>;

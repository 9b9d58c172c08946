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
  /** As a power cut ends it. */
  readonly kill: () => Promise<void>;
  /** Again, on what was left by `kill`. */
  readonly start: () => Promise<Server | NoServer>;
  readonly stop: () => Promise<void>;
}

/** A PostgreSQL of its own, which goes with this process however that ends: the tests' own, or of a folder. */
export function startServer(settings: readonly string[], binaries?: string): Promise<StartedServer>;

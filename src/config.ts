export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process. No other file reads it. */
export function environment(): Environment {
  return process.env;
}

/** Where the databases are: all that a quick command needs, without the cost of the checked settings. */
export function readDataDir(env: Environment): string {
  return env['DATA_DIR'] || 'data';
}

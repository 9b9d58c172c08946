import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine } from '../store/open-engine.js';
import { readSettings, readStoreSettings } from '../app/config/read-settings.js';
import { getDemoSettingsFile, readDemoSettings } from './commands/demo/demo-settings.js';
import { createUsageError } from './command-error.js';
import type { Environment } from '../app/config/define-setting.js';
import { type Io, printNotice } from './io.js';
import type { MirrorContext } from './context.js';

/**
 * Returns the names of those variables in `env` that are not empty and configure a real registry, its webhooks or a database
 * server.
 */
export function findRegistrySettings(env: Environment): string[] {
  return Object.keys(env).filter(
    name => /^(REGISTRY_|WEBHOOK_|MIRROR_DATABASE_URL(_FILE)?$)/.test(name) && Boolean(env[name]),
  );
}

/**
 * Returns whether a command may use the demo. Registry settings, production and `--env-file` each exclude the
 * demo.
 */
export function mayUseDemo({ env, hasEnvFile }: Pick<Io, 'env' | 'hasEnvFile'>): boolean {
  return !hasEnvFile && env['NODE_ENV'] !== 'production' && findRegistrySettings(env).length === 0;
}

export function getDataFolder(env: Environment): string {
  return env['DATA_DIR'] || 'data';
}

export function getDemoFolder(env: Environment): string {
  return join(getDataFolder(env), 'demo');
}

/**
 * Creates the object that describes a mirror whose files are in `folder`, with its settings and its database engine. Opens no file and no
 * connection.
 */
export function createMirrorLocation(
  io: Io,
  { folder, env, isDemo }: Pick<MirrorContext, 'folder' | 'env' | 'isDemo'>,
): MirrorContext {
  return {
    isDemo,
    folder,
    /** Without DYNO, a disk that is wiped at each restart is accepted: the demo's data is made up. */
    env: { ...env, DATA_DIR: folder, ...(isDemo ? { DYNO: '' } : {}) },
    engine: openEngine(readStoreSettings({ ...env, DATA_DIR: folder }), ({ message }) =>
      printNotice(io, `A database connection was lost (${message}) and will be reopened.`),
    ),
  };
}

/**
 * Returns where the mirror is: in the data folder, or in its subfolder `demo` if only that has a mirror. Applies the settings of the
 * demo if the folder belongs to a demo.
 */
export function findMirrorLocation(io: Io): MirrorContext {
  const dataFolder = getDataFolder(io.env);
  const real = createMirrorLocation(io, { folder: dataFolder, env: io.env, isDemo: false });
  if (!mayUseDemo(io)) return real;
  const folder = real.engine.findMissingFile() === null ? dataFolder : getDemoFolder(io.env);
  const demoSettings = readDemoSettings(folder);
  if (demoSettings === null) return real;
  return createMirrorLocation(io, { folder, env: { ...demoSettings, ...io.env }, isDemo: true });
}

/** Returns the location if a mirror exists there. Otherwise throws a usage error. */
export function requireExistingMirror(location: MirrorContext, io: Io): MirrorContext {
  const missing = location.engine.findMissingFile();
  if (missing === null) return location;
  const ignoredDemo = getDemoFolder(io.env);
  const hasIgnoredDemo = !mayUseDemo(io) && existsSync(getDemoSettingsFile(ignoredDemo));
  throw createUsageError(`There is no mirror in ${location.engine.location}: ${missing} is missing.`, [
    'Start "carbon-mirror up" ("up --demo" for a demo), or set DATA_DIR to the folder of your mirror.',
    ...(hasIgnoredDemo
      ? [
          `The demo in ${ignoredDemo} is ignored because of --env-file, NODE_ENV=production or registry settings.`,
        ]
      : []),
  ]);
}

/** Returns a notice that the data is made up, and how to name a real mirror. */
export function describeDemoData({ engine }: Pick<MirrorContext, 'engine'>): string {
  return `Demo: the data in ${engine.location} is made up. For a real mirror, name its settings with --env-file.`;
}

/** Creates a client for the registry that the environment variables configure. */
export async function connectRegistry({ env }: Pick<Io, 'env'>, { now }: Pick<Io, 'now'>) {
  const settings = await readSettings(env, 'live');
  const { createClient } = await import('../client.js');
  return createClient({ ...settings, now, random: Math.random });
}

/** Passes a resource to `use` and returns the result. Always closes the resource afterwards. */
export async function useAndClose<Resource extends { close(): Promise<unknown> }, Result>(
  resourceOrPromise: Resource | Promise<Resource>,
  use: (resource: Resource) => Promise<Result>,
): Promise<Result> {
  const resource = await resourceOrPromise;
  try {
    return await use(resource);
  } finally {
    await resource.close();
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine } from '../store/open.js';
import { readSettings, readStoreSettings } from '../app/config/config.js';
import { demoSettingsFile, readDemoSettings } from './commands/demo/settings.js';
import { createUsageError } from './exit.js';
import { type Io, printNotice } from './io.js';
import type { MirrorLocation } from './context.js';

type Environment = Io['env'];

/** The settings that name a registry, its webhooks or a database; a demo has its own. */
export function findRegistrySettings(env: Environment): string[] {
  return Object.keys(env).filter(
    name => /^(REGISTRY_|WEBHOOK_|MIRROR_DATABASE_URL(_FILE)?$)/.test(name) && Boolean(env[name]),
  );
}

/** Whether a command uses the demo: without the settings of a registry, but never in production or with --env-file. */
export function usesDemo({ env, hasEnvFile }: Pick<Io, 'env' | 'hasEnvFile'>): boolean {
  return !hasEnvFile && env['NODE_ENV'] !== 'production' && findRegistrySettings(env).length === 0;
}

export function getDataFolder(env: Environment): string {
  return env['DATA_DIR'] || 'data';
}

export function getDemoFolder(env: Environment): string {
  return join(getDataFolder(env), 'demo');
}

export function createMirrorLocation(
  io: Io,
  folder: string,
  env: Environment,
  demo: boolean,
): MirrorLocation {
  return {
    isDemo: demo,
    folder,
    /** What a demo would lose is made up: it may stand on any disk. */
    env: { ...env, DATA_DIR: folder, ...(demo ? { DYNO: '' } : {}) },
    engine: openEngine(readStoreSettings({ ...env, DATA_DIR: folder }), ({ message }) =>
      printNotice(io, `A database connection was lost (${message}) and will be reopened.`),
    ),
  };
}

/** The mirror that a command is asked about, for what asks the registry or the receiver and needs none. */
export function findMirrorLocation(io: Io): MirrorLocation {
  const own = createMirrorLocation(io, getDataFolder(io.env), io.env, false);
  if (!usesDemo(io) || own.engine.findMissing() === null) return own;
  const folder = getDemoFolder(io.env);
  const settings = readDemoSettings(folder);
  return settings === null ? own : createMirrorLocation(io, folder, { ...settings, ...io.env }, true);
}

export function assertMirrorExists(location: MirrorLocation, io: Io): MirrorLocation {
  const missing = location.engine.findMissing();
  if (missing === null) return location;
  const demo = getDemoFolder(io.env);
  const hasUnusedDemo = !usesDemo(io) && existsSync(demoSettingsFile(demo));
  throw createUsageError(`There is no mirror in ${location.engine.location}: ${missing} is missing.`, [
    'Start "carbon-mirror up" ("up --demo" for a demo), or set DATA_DIR to the folder of your mirror.',
    ...(hasUnusedDemo
      ? [`The demo in ${demo} is ignored because of --env-file, NODE_ENV=production or registry settings.`]
      : []),
  ]);
}

/** The registry that settings name. One call of a person is worth waiting for, so no budget is set. */
export async function connectRegistry({ env }: Pick<Io, 'env'>, { now }: Pick<Io, 'now'>) {
  const settings = await readSettings(env, 'live');
  const { createClient } = await import('../client.js');
  return createClient({ ...settings, now, random: Math.random });
}

/** Works with what is opened, and closes it. */
export async function useAndClose<Opened extends { close(): Promise<unknown> }, T>(
  opening: Opened | Promise<Opened>,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const opened = await opening;
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

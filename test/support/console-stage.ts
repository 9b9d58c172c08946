import { join } from 'node:path';
import { openReader } from '../../src/engines/sqlite/reader.js';
import type { ConsoleOptions } from '../../src/console/console.js';
import { visitConsole, type Visit } from './console.js';
import { temporaryInbox } from './inbox.js';
import { type Scene, temporaryScene } from './mirror.js';

export interface ConsoleStage extends Visit {
  readonly scene: Scene;
  /** A page as text. */
  readonly page: (path: string) => Promise<string>;
}

/** A console over a mirror whose clock is the world's: what is fresh is told by it. */
export async function consoleStage(options: Partial<ConsoleOptions> = {}): Promise<ConsoleStage> {
  const scene = temporaryScene();
  temporaryInbox(scene.folder);
  scene.clock.at = Date.now();
  const files = { mirrorFile: join(scene.folder, 'mirror.db'), inboxFile: join(scene.folder, 'inbox.db') };
  const visit = await visitConsole(async () => openReader(files), options);
  return { ...visit, scene, page: async path => await (await visit.open(path)).text() };
}

/** What a page says, without its markup. */
export function wordsOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

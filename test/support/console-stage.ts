import { join } from 'node:path';
import { createActions } from '../../src/app/actions.js';
import { measure as inspect } from '../../src/cli/certificate-files.js';
import { readQuestions } from '../../src/cli/ready-questions.js';
import type { Engine } from '../../src/store/engine.js';
import { openEngine } from '../../src/store/open.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import type { ConsoleOptions } from '../../src/console/console.js';
import type { ListenOptions } from '../../src/webhook/listen.js';
import { type Visit, visitConsole } from './console.js';
import { temporaryInbox } from './inbox.js';
import { type Scene, temporaryScene } from './mirror.js';
import { type Tables, tablesIn } from './tables.js';

export interface ConsoleStage extends Visit {
  readonly scene: Scene;
  /** Mirror and inbox. */
  readonly tables: Tables;
  /** What the log was told that people asked for. */
  readonly asked: unknown[];
  /** A page as text. */
  readonly page: (path: string) => Promise<string>;
}

interface StageOptions extends Partial<ConsoleOptions> {
  /** Whether its pages may ask for work. */
  readonly canAct?: boolean;
  readonly limits?: Partial<ListenOptions>;
}

/** A console over a mirror whose clock is the world's: what is fresh is told by it. */
export async function consoleStage(stage: StageOptions = {}): Promise<ConsoleStage> {
  const { canAct = false, limits = {}, ...options } = stage;
  const scene = await temporaryScene();
  temporaryInbox(scene.folder);
  scene.clock.at = Date.now();
  const files = { mirrorFile: join(scene.folder, 'mirror.db'), inboxFile: join(scene.folder, 'inbox.db') };
  const engine = openEngine({ dataDir: scene.folder, diskReserveMb: null, database: null });
  const asked: unknown[] = [];
  const log = { info: (fact: unknown) => void asked.push(fact) };
  const actions = canAct ? createActions(() => engine.openInbox(Date.now), log) : null;
  const visit = await visitConsole(
    async () => openReader(files),
    { actions, asking: askingOf(engine), pdfs: pdfsOf(scene), ...options },
    limits,
  );
  return {
    ...visit,
    scene,
    tables: tablesIn(scene.folder),
    asked,
    page: async path => {
      const answer = await visit.open(path);
      const leads = answer.headers.get('location');
      return await (leads === null ? answer : await visit.open(leads)).text();
    },
  };
}

function askingOf({ ask, describeSchema }: Engine): ConsoleOptions['asking'] {
  return { ask, describeSchema, ready: readQuestions() };
}

function pdfsOf({ pdfs }: Scene): ConsoleOptions['pdfs'] {
  const store = pdfs(1_000_000);
  return { open: store.open, inspect: file => inspect(store, file) };
}

/** What a page says, without its markup. */
export function wordsOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

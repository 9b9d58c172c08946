import type { Reader } from '../../store/contract/reader.js';
import type { Engine } from '../../store/engine.js';
import type { Io } from '../io.js';

/** Where a command finds its mirror, and the settings that belong to it. */
export interface MirrorLocation {
  readonly demo: boolean;
  readonly folder: string;
  readonly engine: Engine;
  /** The environment, or the settings that the demo was started with. */
  readonly env: Io['env'];
}

/** Asks what is there. */
export async function reading<T>(
  { engine }: Pick<MirrorLocation, 'engine'>,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  const reader = await engine.openReader();
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

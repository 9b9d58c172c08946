import type { Writers } from '../../engines/engine.js';
import { createMirror } from '../../mirror/create-mirror.js';
import type { Mirror } from '../../mirror/mirror.js';
import type { Place } from './place.js';

export type MirrorWriters = Omit<Writers, 'mirror' | 'close'> & { readonly mirror: Mirror };

/** For the few commands that write inbox and mirror beside a running receiver and worker. */
export async function withWriters<T>(
  { engine }: Place,
  now: () => number,
  work: (writers: MirrorWriters) => Promise<T>,
): Promise<T> {
  const writers = await engine.openWriters(now);
  try {
    return await work({ ...writers, mirror: createMirror(writers.mirror, now) });
  } finally {
    await writers.close();
  }
}

import { describe, expect, test } from 'vitest';
import { ENGINES, type Engine } from '../support/engines.js';
import { credit, MINUTE } from '../support/mirror.js';

const SECOND = 1000;

/** A warehouse that was read completely a while ago. The view looks at the real clock, so all of it is of today. */
async function sceneOf(library: Engine['library'], readBefore: number) {
  const { stage, tables, writeFreshnessFacts } = await library();
  const now = Date.now();
  const instant = (before: number) => new Date(now - before).toISOString();
  const read = async (before: number) => {
    stage.clock.at = now - before;
    await stage.read('warehouse', [credit('c-1')]);
  };
  await stage.mirror.checkOrigin('https://registry.example', 'app-1');
  await read(readBefore);
  return {
    read,
    state: () => stage.db.value<string>("SELECT state FROM freshness WHERE resource = 'warehouse'"),
    /** A worker gave its last heartbeat so long ago, and looked at what was announced. */
    watch: async (before: number) => {
      await tables.change('DELETE FROM inbox.processes');
      await tables.change(
        "INSERT INTO inbox.processes (role, host, pid, started_at, seen_at) VALUES ('work', 'here', 1, ?, ?)",
        instant(before),
        instant(before),
      );
      await writeFreshnessFacts(now - before);
    },
    announce: async (before: number) =>
      await tables.change(
        `INSERT INTO inbox.deliveries (received_at, event, installation_id, digest, text_id, outer_mismatch, verdict, secret_index, duplicates)
         VALUES (?, 'warehouseTransaction', 'installation-1', ?, 1, NULL, 'accepted', 0, 0)`,
        instant(before),
        `digest-${before}`,
      ),
  };
}

describe.each(ENGINES)('$name', ({ library }) => {
  test.each([
    [20, 'current'],
    [80, 'behind'],
  ])(
    'what has waited for %s seconds after a read is %s, and current once it is read',
    async (seconds, expected) => {
      const { read, state, watch, announce } = await sceneOf(library, 5 * MINUTE);
      await announce(seconds * SECOND);
      await watch(0);
      expect(await state()).toBe(expected);
      await read(0);
      await watch(0);
      expect(await state()).toBe('current');
    },
  );

  test.each([
    [20, 'current'],
    [80, 'behind'],
  ])(
    'what was watched by a worker that gave its last heartbeat %s seconds ago is %s',
    async (seconds, expected) => {
      const { state, watch } = await sceneOf(library, 5 * MINUTE);
      await watch(seconds * SECOND);
      expect(await state()).toBe(expected);
    },
  );
});

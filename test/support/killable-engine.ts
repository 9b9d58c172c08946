import type { Engine } from '../../src/store/engine.js';

export interface KillableEngine {
  readonly engine: Engine;
  /** Stops the worker as `kill -9` would: operations in progress end, and no further one starts. */
  readonly kill: () => Promise<void>;
}

/** Wraps an engine so that its worker can be killed. */
export function createKillableEngine(engine: Engine): KillableEngine {
  const underway = new Set<Promise<unknown>>();
  let isDead = false;

  function guardPort<Port extends object>(port: Port, names: readonly string[] = Object.keys(port)): Port {
    const guard = (name: string) => {
      const operation: unknown = Reflect.get(port, name);
      if (typeof operation !== 'function' || SYNCHRONOUS.has(name)) return operation;
      return (...parameters: unknown[]) => {
        if (isDead) return Promise.reject(new Error('this process was killed'));
        const result: Promise<unknown> = Reflect.apply(operation, port, parameters);
        const settled = result.catch(() => undefined);
        underway.add(settled);
        void settled.finally(() => underway.delete(settled));
        return result;
      };
    };
    return { ...port, ...Object.fromEntries(names.map(name => [name, guard(name)])) };
  }

  return {
    engine: {
      ...engine,
      openWorkerStores: async options => {
        const store = await engine.openWorkerStores(options);
        const { inbox, mirror, pdfs } = store;
        return {
          ...store,
          inbox: guardPort(inbox),
          mirror: guardPort(mirror),
          pdfs: guardPort(pdfs, ['save']),
        };
      },
    },
    kill: async () => {
      isDead = true;
      await Promise.all(underway);
    },
  };
}

const SYNCHRONOUS = new Set(['watch', 'close']);

import type { RequestListener } from 'node:http';
import type { WorldSpec } from './world/plan.js';

export type WorldAmounts = Omit<WorldSpec, 'seed' | 'startAt'>;

export interface SandboxOptions {
  /** 0 for any free port. */
  readonly port: number;
  readonly host?: string;
  /** Where its journal stands. Without it everything is in a folder of its own that goes with `close`. */
  readonly folder?: string;
  /** Fills an empty folder with the demo world that belongs to this number; without it the registry begins empty. */
  readonly seed?: number;
  /** Another size than the demo's, for benchmarks. */
  readonly world?: WorldAmounts;
  /** Refuses what the registry is known to forgive: no version header, a JWT without `iat` or `alg`. */
  readonly strict?: boolean;
  /** Answers as the public documentation shows it, where the sandbox's own choices are kinder. */
  readonly profile?: 'as-documented';
  /** As in `x-<prefix>-api-version`. */
  readonly headerPrefix?: string;
  /** Further names by which a proxy calls its install page. */
  readonly names?: readonly string[];
  readonly wall?: () => number;
  /** How it listens, where the program has limits of its own for who may call. */
  readonly listen?: (
    app: RequestListener,
    address: { readonly host: string; readonly port: number },
  ) => Promise<Listening>;
  /** Told of a fault of the sandbox itself, which answers 500. There should be none. */
  readonly onUnexpected?: (error: unknown) => void;
}

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** What importers of the package are given: what its types rest on is there for them too. */
export interface RunningSandbox {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  close(): Promise<void>;
}

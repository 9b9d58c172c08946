import type { RequestListener } from 'node:http';
import type { ControlClient } from './control/control-client.js';
import type { WorldSpec } from './world/world-size.js';

/** How many objects of each kind to generate. A number that is left out is the same as in the demo. */
export type WorldAmounts = Omit<WorldSpec, 'seed' | 'startAt'>;

export interface SandboxOptions {
  /** The port to listen on, or 0 for any free one. */
  readonly port: number;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** The folder of the journal. Without it the sandbox uses a temporary folder, which `close` removes. */
  readonly folder?: string;
  /** Fills an empty registry with a generated world; the same seed gives the same world. Without it the registry is empty. */
  readonly seed?: number;
  /** The size of the generated world. Default: that of the demo. */
  readonly world?: WorldAmounts;
  /** Refuses requests that the registry tolerates: without a version header, or with a JWT without `iat` or `alg`. */
  readonly strict?: boolean;
  /** Answers exactly as the public documentation shows. Without it, the sandbox answers more generously. */
  readonly profile?: 'as-documented';
  /** The `registry` in `x-registry-api-version`, which is the default. */
  readonly headerPrefix?: string;
  /** Host names at which a proxy offers the install page, in addition to localhost and IP addresses. */
  readonly installPageHosts?: readonly string[];
  /** Returns epoch milliseconds. Default: `Date.now`. */
  readonly wallClock?: () => number;
  /** Replaces how the sandbox listens. A program can use it to limit who may connect. */
  readonly listen?: (
    app: RequestListener,
    address: { readonly host: string; readonly port: number },
  ) => Promise<SandboxListener>;
  /** Called for an error of the sandbox itself, which it answers with status 500. Default: writes it to standard error. */
  readonly onUnexpectedError?: (error: unknown) => void;
}

/** A server that accepts connections. */
export interface SandboxListener {
  readonly port: number;
  close(): Promise<void>;
}

/** A running sandbox. This type uses only types that importers of the package have. */
export interface RunningSandbox {
  readonly url: string;
  readonly port: number;
  /** The folder of the journal. */
  readonly folder: string;
  /** Calls the control API, which acts for the people who use the registry. */
  readonly control: ControlClient;
  /** Stops the sandbox, and removes its folder if that is temporary. */
  close(): Promise<void>;
}

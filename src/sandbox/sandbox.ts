import type { RunningSandbox } from './options.js';
import type { Registry } from './registry/registry.js';

export interface Sandbox extends RunningSandbox {
  /** The registry's parts, for tests in the same process. The control API gives the same over HTTP. */
  readonly registry: Registry;
}

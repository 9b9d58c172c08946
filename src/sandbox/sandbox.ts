import type { RunningSandbox } from './options.js';
import type { SandboxRegistry } from './registry/registry.js';

/** A running sandbox with direct access to its registry, for callers in this package. */
export interface Sandbox extends RunningSandbox {
  /** The parts of the registry. The control API offers the same over HTTP. */
  readonly registry: SandboxRegistry;
}

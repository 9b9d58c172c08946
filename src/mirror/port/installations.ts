import type { SyncCause } from './sync.js';
import type { InstallationState } from '../../store/contract/states.js';
import type { Resource } from '../../resources/lists.js';

/** An installation that the mirror has stored. */
export interface KnownInstallation {
  readonly id: string;
  /** Null if unknown. */
  readonly organizationId: string | null;
  readonly state: string;
  /** The granted permissions as JSON text. */
  readonly permissions: string;
}

/** The result of reading one installation. */
export interface InstallationRead {
  readonly state: InstallationState;
  readonly claim: number;
  readonly startedAt: number;
  /** When the registry's answer arrived. */
  readonly arrivedAt: number;
  readonly endedAt: number;
  readonly trigger: string;
  readonly cause?: SyncCause;
  /** The resources of the organization; each gets a row in `resource_states`. */
  readonly resources: readonly Resource[];
}

import type { AccessTokens } from '../registry/auth/access-tokens.js';
import type { InboxPort } from '../inbox/port.js';
import type { CertificateStore, Mirror } from '../mirror/mirror.js';
import type { RegistryClient } from '../registry/client-types.js';

/** What all sync code depends on: the inbox with its jobs, the mirror to write to, the registry client, and settings. */
export interface SyncContext {
  readonly inbox: InboxPort;
  readonly mirror: Mirror;
  readonly certificates: CertificateStore;
  readonly client: RegistryClient & { readonly tokens: AccessTokens };
  readonly appId: string;
  /** False keeps names and e-mail addresses of members out of the mirror. */
  readonly mirrorMembers: boolean;
  readonly retentionDays: number;
  /** Whether orders of the console are carried out. False refuses them. */
  readonly runsOrders: boolean;
  readonly now: () => number;
  readonly random: () => number;
  readonly onRead?: (summary: ReadSummary) => void;
}

/** How the read of one resource ended and what it changed; for metrics. */
export interface ReadSummary {
  readonly resource: string;
  readonly state: string;
  readonly ms: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly drift: number;
}

import { createHmac } from 'node:crypto';
import { hasPermission } from '../registry/permissions.js';
import type { AppRecord, InstallationRecord, TransactionRecord, UserRecord } from '../store/records.js';
import { toInstallationJson, toTransactionJson, toUserJson } from '../registry/to-json.js';
import type { SandboxStore } from '../store/store.js';
import { sortOldestFirst } from '../store/tables.js';

export type InstallationEvent =
  | 'installed'
  | 'uninstalled'
  | 'suspended'
  | 'unsuspended'
  | 'newPermissionsAccepted';

/** The body of a webhook and the value of its signature header. */
export interface SignedBody {
  readonly body: string;
  /** Null if the app has no webhook secret. */
  readonly signature: string | null;
}

/** Adds `signedData` to a payload and signs it. The signature covers the base64 text of `signedData`, not what it decodes to. */
export function signPayload(payload: object, secret: string | null): SignedBody {
  const signedData = Buffer.from(JSON.stringify(payload), 'utf8').toString('base64');
  const body = JSON.stringify({ ...payload, signedData });
  if (secret === null || secret === '') return { body, signature: null };
  return { body, signature: `sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}` };
}

/** A webhook to send to one app. */
export interface WebhookMessage {
  readonly app: AppRecord;
  readonly installationId: string;
  readonly event: string;
  readonly payload: object;
}

export type WebhookPublisher = ReturnType<typeof createWebhookPublisher>;

/** Creates the webhooks for events of installations and transactions. It runs inside the operation that caused the event. */
export function createWebhookPublisher({ tables }: SandboxStore, enqueue: (message: WebhookMessage) => void) {
  const { apps, organizations, users, installations } = tables;

  /** Returns the first administrator of an organization, or its first member if none is an administrator. */
  function findAdmin(organizationId: string): UserRecord | undefined {
    const members = sortOldestFirst(users.list(organizationId));
    return members.find(({ isAdmin }) => isAdmin) ?? members[0];
  }

  /** Enqueues a webhook for the app of an installation. `sender` is the person behind the event, if no app caused it. */
  function notifyApp(
    installation: InstallationRecord,
    event: string,
    transaction: TransactionRecord | null,
  ): void {
    const app = apps.get(installation.appId);
    const organization = organizations.get(installation.organizationId);
    if (app === undefined || organization === undefined) return;
    const admin = findAdmin(installation.organizationId);
    const isCausedByApp = transaction !== null && transaction.appId !== null;
    const payload = {
      event,
      ...(transaction && { transaction: toTransactionJson(transaction) }),
      installation: toInstallationJson(installation, app, organization),
      ...(admin && !isCausedByApp && { sender: toUserJson(admin) }),
    };
    enqueue({ app, installationId: installation.id, event, payload });
  }

  function listActive(organizationId: string): InstallationRecord[] {
    return sortOldestFirst(installations.list(organizationId).filter(({ state }) => state === 'active'));
  }

  return {
    /** Enqueues the webhook for an event of an installation, such as `suspended`. */
    publishInstallationEvent(event: InstallationEvent, installationId: string): void {
      const installation = installations.get(installationId);
      if (installation !== undefined) notifyApp(installation, event, null);
    },
    /**
     * Notifies the active installations of the organization and of the receiver. A warehouse transaction is hidden from
     * apps of the organization that may not read its warehouse.
     */
    publishTransaction(transaction: TransactionRecord): void {
      const { event, organizationId, receiverId } = transaction;
      for (const installation of listActive(organizationId)) {
        const isHidden =
          event === 'warehouseTransaction' &&
          !hasPermission(installation.permissions, 'organization_warehouse:read');
        if (!isHidden) notifyApp(installation, event, transaction);
      }
      if (receiverId === null || receiverId === organizationId) return;
      for (const installation of listActive(receiverId))
        notifyApp(installation, 'organizationTransaction', transaction);
    },
  };
}

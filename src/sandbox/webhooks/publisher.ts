import { createHmac } from 'node:crypto';
import { hasPermission } from '../registry/permissions.js';
import type { AppRecord, InstallationRecord, TransactionRecord, UserRecord } from '../store/records.js';
import { toInstallationJson, toTransactionJson, toUserJson } from '../registry/to-json.js';
import type { SandboxStore } from '../store/store.js';
import { sortOldestFirst } from '../store/tables.js';

/** A webhook event of an installation. */
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

/** Creates the body of a webhook from its payload. Signs the body if there is a secret. */
export function signPayload(payload: object, secret: string | null): SignedBody {
  // The signature covers the base64 text of the payload, which the body contains too.
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

/** Creates the publisher of webhooks. Publish a webhook inside the operation that causes the event. */
export function createWebhookPublisher({ tables }: SandboxStore, enqueue: (message: WebhookMessage) => void) {
  const { apps, organizations, users, installations } = tables;

  /** Returns the oldest administrator of an organization, or its oldest user if it has no administrator. */
  function findAdministrator(organizationId: string): UserRecord | undefined {
    const members = sortOldestFirst(users.list(organizationId));
    return members.find(({ isAdmin }) => isAdmin) ?? members[0];
  }

  /** Enqueues a webhook about an event for the app of an installation. `transaction` is null for an installation event. */
  function notifyApp(
    installation: InstallationRecord,
    event: string,
    transaction: TransactionRecord | null,
  ): void {
    // If no app caused the event, `sender` in the payload is the organization's administrator.
    const app = apps.get(installation.appId);
    const organization = organizations.get(installation.organizationId);
    if (app === undefined || organization === undefined) return;
    const admin = findAdministrator(installation.organizationId);
    const isCausedByApp = transaction !== null && transaction.appId !== null;
    const payload = {
      event,
      ...(transaction && { transaction: toTransactionJson(transaction) }),
      installation: toInstallationJson(installation, app, organization),
      ...(admin && !isCausedByApp && { sender: toUserJson(admin) }),
    };
    enqueue({ app, installationId: installation.id, event, payload });
  }

  /** Lists the active installations on an organization, oldest first. */
  function listActiveInstallations(organizationId: string): InstallationRecord[] {
    return sortOldestFirst(installations.list(organizationId).filter(({ state }) => state === 'active'));
  }

  return {
    /** Enqueues a webhook for an installation event, such as `suspended`. */
    publishInstallationEvent(event: InstallationEvent, installationId: string): void {
      const installation = installations.get(installationId);
      if (installation !== undefined) notifyApp(installation, event, null);
    },
    /** Enqueues a webhook for each app with an active installation on the transaction's organization or receiver. */
    publishTransaction(transaction: TransactionRecord): void {
      // Apps without read permission for the warehouse get no webhooks of warehouse transactions.
      const { event, organizationId, receiverId } = transaction;
      for (const installation of listActiveInstallations(organizationId)) {
        const isHidden =
          event === 'warehouseTransaction' &&
          !hasPermission(installation.permissions, 'organization_warehouse:read');
        if (!isHidden) notifyApp(installation, event, transaction);
      }
      if (receiverId === null || receiverId === organizationId) return;
      for (const installation of listActiveInstallations(receiverId))
        notifyApp(installation, 'organizationTransaction', transaction);
    },
  };
}

import { createHmac } from 'node:crypto';
import { allows } from '../parts/permissions.js';
import type { AppRow, InstallationRow, TransactionRow, UserRow } from '../store/rows.js';
import { installation, transaction, user } from '../parts/shapes.js';
import type { Store } from '../store/store.js';
import { oldestFirst } from '../store/table.js';

export type LifeCycleEvent =
  | 'installed'
  | 'uninstalled'
  | 'suspended'
  | 'unsuspended'
  | 'newPermissionsAccepted';

export interface SignedBody {
  readonly body: string;
  /** Null where the app has set no secret. */
  readonly signature: string | null;
}

/** The signature covers the base64 text itself, not what it decodes to. */
export function signPayload(payload: object, secret: string | null): SignedBody {
  const signedData = Buffer.from(JSON.stringify(payload), 'utf8').toString('base64');
  const body = JSON.stringify({ ...payload, signedData });
  if (secret === null || secret === '') return { body, signature: null };
  return { body, signature: `sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}` };
}

export interface Message {
  readonly app: AppRow;
  readonly installationId: string;
  readonly event: string;
  readonly payload: object;
}

export interface Announcer {
  announce(event: LifeCycleEvent, installationId: string): void;
  /** To every active installation that may know: of the organization it happened in, and of its receiver. */
  announceTransaction(row: TransactionRow): void;
}

/** Turns what happened into messages for the apps concerned, as part of the verb by which it happened. */
export function createAnnouncer({ tables }: Store, send: (message: Message) => void): Announcer {
  const { apps, organizations, users, installations } = tables;

  function adminOf(organizationId: string): UserRow | undefined {
    const members = oldestFirst(users.rows(organizationId));
    return members.find(({ is_admin }) => is_admin) ?? members[0];
  }

  function tell(row: InstallationRow, event: string, happened: TransactionRow | null): void {
    const app = apps.get(row.app_id);
    const owner = organizations.get(row.organization_id);
    if (app === undefined || owner === undefined) return;
    const admin = adminOf(row.organization_id);
    const payload = {
      event,
      ...(happened && { transaction: transaction(happened) }),
      installation: installation(row, app, owner),
      ...(admin && happened?.app_id == null && { sender: user(admin) }),
    };
    send({ app, installationId: row.id, event, payload });
  }

  function activeOn(organizationId: string): InstallationRow[] {
    return oldestFirst(installations.rows(organizationId).filter(({ state }) => state === 'active'));
  }

  return {
    announce(event, installationId) {
      const row = installations.get(installationId);
      if (row !== undefined) tell(row, event, null);
    },
    announceTransaction(row) {
      for (const each of activeOn(row.organization_id)) {
        const isHidden =
          row.event === 'warehouseTransaction' && !allows(each.permissions, 'organization_warehouse:read');
        if (!isHidden) tell(each, row.event, row);
      }
      if (row.receiver_id === null || row.receiver_id === row.organization_id) return;
      for (const each of activeOn(row.receiver_id)) tell(each, 'organizationTransaction', row);
    },
  };
}

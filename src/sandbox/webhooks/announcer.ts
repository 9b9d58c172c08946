import { createHmac } from 'node:crypto';
import { allows } from '../registry/permissions.js';
import type { AppRow, InstallationRow, TransactionRow, UserRow } from '../store/rows.js';
import { installation, transaction, user } from '../registry/shapes.js';
import type { Store } from '../store/store.js';
import { oldestFirst } from '../store/tables.js';

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

export type Announcer = ReturnType<typeof createAnnouncer>;

/** Turns what happened into messages for the apps concerned, as part of the verb by which it happened. */
export function createAnnouncer({ tables }: Store, send: (message: Message) => void) {
  const { apps, organizations, users, installations } = tables;

  function adminOf(organizationId: string): UserRow | undefined {
    const members = oldestFirst(users.rows(organizationId));
    return members.find(({ isAdmin }) => isAdmin) ?? members[0];
  }

  function tell(row: InstallationRow, event: string, happened: TransactionRow | null): void {
    const app = apps.get(row.appId);
    const owner = organizations.get(row.organizationId);
    if (app === undefined || owner === undefined) return;
    const admin = adminOf(row.organizationId);
    const payload = {
      event,
      ...(happened && { transaction: transaction(happened) }),
      installation: installation(row, app, owner),
      ...(admin && happened?.appId == null && { sender: user(admin) }),
    };
    send({ app, installationId: row.id, event, payload });
  }

  function activeOn(organizationId: string): InstallationRow[] {
    return oldestFirst(installations.rows(organizationId).filter(({ state }) => state === 'active'));
  }

  return {
    announce(event: LifeCycleEvent, installationId: string): void {
      const row = installations.get(installationId);
      if (row !== undefined) tell(row, event, null);
    },
    /** To every active installation that may know: of the organization it happened in, and of its receiver. */
    announceTransaction(row: TransactionRow): void {
      for (const each of activeOn(row.organizationId)) {
        const isHidden =
          row.event === 'warehouseTransaction' && !allows(each.permissions, 'organization_warehouse:read');
        if (!isHidden) tell(each, row.event, row);
      }
      if (row.receiverId === null || row.receiverId === row.organizationId) return;
      for (const each of activeOn(row.receiverId)) tell(each, 'organizationTransaction', row);
    },
  };
}

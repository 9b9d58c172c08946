import { createHmac } from 'node:crypto';
import { allows, parseGrants } from '../parts/permissions.js';
import type { AppRow, InstallationRow, OrganizationRow, TransactionRow, UserRow } from '../store/schema.js';
import { installation, transaction, user } from '../parts/shapes.js';
import type { Store } from '../store/store.js';

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

/** Turns what happened into messages for the apps concerned, inside the transaction in which it happened. */
export function createAnnouncer({ db }: Store, send: (message: Message) => void): Announcer {
  const findInstallation = db.prepare<[string], InstallationRow>('select * from installations where id = ?');
  const findActive = db.prepare<[string], InstallationRow>(
    `select * from installations where organization_id = ? and state = 'active' order by created_at, id`,
  );
  const findApp = db.prepare<[string], AppRow>('select * from apps where id = ?');
  const findOrganization = db.prepare<[string], OrganizationRow>('select * from organizations where id = ?');
  const findAdmin = db.prepare<[string], UserRow>(
    `select u.* from members m join users u on u.id = m.user_id
     where m.organization_id = ? order by m.is_admin desc, u.created_at, u.id limit 1`,
  );

  function tell(row: InstallationRow, event: string, happened: TransactionRow | null): void {
    const app = findApp.get(row.app_id);
    const owner = findOrganization.get(row.organization_id);
    if (app === undefined || owner === undefined) return;
    const admin = findAdmin.get(row.organization_id);
    const payload = {
      event,
      ...(happened && { transaction: transaction(happened) }),
      installation: installation({ ...row, app_name_id: app.name_id }, owner),
      ...(admin && happened?.app_id == null && { sender: user(admin) }),
    };
    send({ app, installationId: row.id, event, payload });
  }

  function announceTransaction(row: TransactionRow): void {
    for (const each of findActive.all(row.organization_id)) {
      const isHidden = row.event === 'warehouseTransaction' && !mayReadWarehouse(each);
      if (!isHidden) tell(each, row.event, row);
    }
    if (row.receiver_id === null || row.receiver_id === row.organization_id) return;
    for (const each of findActive.all(row.receiver_id)) tell(each, 'organizationTransaction', row);
  }

  return {
    announce(event, installationId) {
      const row = findInstallation.get(installationId);
      if (row !== undefined) tell(row, event, null);
    },
    announceTransaction,
  };
}

function mayReadWarehouse(row: InstallationRow): boolean {
  return allows(parseGrants(row.permissions), 'organization_warehouse:read');
}

import { conflict, forbidden, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import type { AppRow, InstallationRow, InstallationState, OrganizationRow } from '../store/schema.js';
import { installation } from './shapes.js';
import type { Store } from '../store/store.js';
import { readFields, refuseFaults } from '../http/validate.js';
import type { Announcer, LifeCycleEvent } from '../webhooks/announcer.js';

type InstallationShape = ReturnType<typeof installation>;

export interface Installations {
  list(appId: string, query: PageQuery): ListAnswer;
  get(appId: string, id: string): InstallationShape;
  ofOrganization(appId: string, organizationId: string): InstallationShape;
  /** For minting: refuses a suspended one. */
  getActive(appId: string, id: string): InstallationRow;
  install(appId: string, organizationId: string): InstallationShape;
  /** The same, of the `appId` and the `organizationId` of a body. */
  installAsked(body: unknown): InstallationShape;
  uninstall(id: string): InstallationShape;
  suspend(id: string): InstallationShape;
  unsuspend(id: string): InstallationShape;
  /** Grants what the app asks for now. */
  acceptPermissions(id: string): InstallationShape;
  /** The human side sees every one, and its state. */
  all(): readonly (InstallationShape & { readonly state: InstallationState })[];
}

export function createInstallations(store: Store, announcer: Announcer): Installations {
  const { db, newId, write } = store;
  const findApp = db.prepare<[string], AppRow>('select * from apps where id = ?');
  const findOrganization = db.prepare<[string], OrganizationRow>('select * from organizations where id = ?');
  const find = db.prepare<[string], InstallationRow>('select * from installations where id = ?');
  const findLive = db.prepare<[string, string], InstallationRow>(
    `select * from installations where app_id = ? and organization_id = ? and state <> 'uninstalled'`,
  );
  const everyRow = db.prepare<[], InstallationRow>('select * from installations order by created_at, id');
  const count = db
    .prepare<[string], number>(
      `select count(*) from installations where app_id = ? and state <> 'uninstalled'`,
    )
    .pluck();
  const page = db.prepare<[string, number, number], InstallationRow>(
    `select * from installations where app_id = ? and state <> 'uninstalled'
     order by created_at desc, id limit ? offset ?`,
  );
  const insert = db.prepare<[InstallationRow]>(
    `insert into installations (id, app_id, organization_id, permissions, state, created_at, updated_at)
     values (@id, @app_id, @organization_id, @permissions, @state, @created_at, @updated_at)`,
  );
  const setState = db.prepare<[InstallationState, string, string]>(
    'update installations set state = ?, updated_at = ? where id = ?',
  );
  const setPermissions = db.prepare<[string, string, string]>(
    'update installations set permissions = ?, updated_at = ? where id = ?',
  );

  function show(row: InstallationRow): InstallationShape {
    const app = found(findApp.get(row.app_id), 'App');
    const owner = found(findOrganization.get(row.organization_id), 'Organization');
    return installation({ ...row, app_name_id: app.name_id }, owner);
  }

  function findLiveById(id: string): InstallationRow {
    const row = find.get(id);
    return found(row?.state === 'uninstalled' ? undefined : row, 'Installation');
  }

  function findOwn(appId: string, id: string): InstallationRow {
    const row = findLiveById(id);
    return found(row.app_id === appId ? row : undefined, 'Installation');
  }

  function install(appId: string, organizationId: string): InstallationShape {
    return write(now => {
      const app = found(findApp.get(appId), 'App');
      found(findOrganization.get(organizationId), 'Organization');
      if (findLive.get(appId, organizationId) !== undefined) throw conflict('The app is already installed');
      const row: InstallationRow = {
        id: newId(),
        app_id: appId,
        organization_id: organizationId,
        permissions: app.permissions,
        state: 'active',
        created_at: now,
        updated_at: now,
      };
      insert.run(row);
      announcer.announce('installed', row.id);
      return show(row);
    });
  }

  function installAsked(body: unknown): InstallationShape {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const [appId, organizationId] = [fields.text('appId'), fields.text('organizationId')];
    refuseFaults(faults);
    return install(appId, organizationId);
  }

  function change(id: string, state: InstallationState, event: LifeCycleEvent): InstallationShape {
    return write(now => {
      const row = findLiveById(id);
      if (row.state === state) throw conflict(`The installation is already ${state}`);
      setState.run(state, now, id);
      announcer.announce(event, id);
      return show({ ...row, state, updated_at: now });
    });
  }

  function acceptPermissions(id: string): InstallationShape {
    return write(now => {
      const row = findLiveById(id);
      const { permissions } = found(findApp.get(row.app_id), 'App');
      setPermissions.run(permissions, now, id);
      announcer.announce('newPermissionsAccepted', id);
      return show({ ...row, permissions, updated_at: now });
    });
  }

  return {
    list(appId, query) {
      const { skip, pagination } = toPage(count.get(appId) ?? 0, query);
      const installations = page.all(appId, query.limit, skip).map(show);
      return { pagination, installations };
    },
    get: (appId, id) => show(findOwn(appId, id)),
    ofOrganization: (appId, organizationId) =>
      show(found(findLive.get(appId, organizationId), 'Installation')),
    getActive(appId, id) {
      const row = findOwn(appId, id);
      if (row.state === 'suspended') throw forbidden('The installation is suspended');
      return row;
    },
    install,
    installAsked,
    uninstall: id => change(id, 'uninstalled', 'uninstalled'),
    suspend: id => change(id, 'suspended', 'suspended'),
    unsuspend: id => change(id, 'active', 'unsuspended'),
    acceptPermissions,
    all: () => everyRow.all().map(row => ({ ...show(row), state: row.state })),
  };
}

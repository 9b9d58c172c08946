import { conflict, forbidden, found } from '../http/errors.js';
import { type ListAnswer, type PageQuery, toPage } from '../http/pages.js';
import type { InstallationRow, InstallationState } from '../store/rows.js';
import { installation } from './shapes.js';
import type { Store } from '../store/store.js';
import { newestFirst, oldestFirst } from '../store/table.js';
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

export function createInstallations(
  { tables, newId, now, verb }: Store,
  announcer: Announcer,
): Installations {
  const { apps, organizations, installations } = tables;

  function show(row: InstallationRow): InstallationShape {
    const app = found(apps.get(row.app_id), 'App');
    return installation(row, app, found(organizations.get(row.organization_id), 'Organization'));
  }

  function findLive(id: string): InstallationRow {
    const row = installations.get(id);
    return found(row?.state === 'uninstalled' ? undefined : row, 'Installation');
  }

  function findOwn(appId: string, id: string): InstallationRow {
    const row = findLive(id);
    return found(row.app_id === appId ? row : undefined, 'Installation');
  }

  function findOn(appId: string, organizationId: string): InstallationRow | undefined {
    const rows = installations.rows(organizationId);
    return rows.find(({ app_id, state }) => app_id === appId && state !== 'uninstalled');
  }

  function save(row: InstallationRow, event: LifeCycleEvent): InstallationShape {
    installations.put(row);
    announcer.announce(event, row.id);
    return show(row);
  }

  const install = verb('install', (appId: string, organizationId: string) => {
    const { permissions } = found(apps.get(appId), 'App');
    found(organizations.get(organizationId), 'Organization');
    if (findOn(appId, organizationId) !== undefined) throw conflict('The app is already installed');
    const row = { id: newId(), app_id: appId, organization_id: organizationId, permissions };
    return save({ ...row, state: 'active', created_at: now(), updated_at: now() }, 'installed');
  });

  const change = verb(
    'change installation',
    (id: string, state: InstallationState, event: LifeCycleEvent) => {
      const row = findLive(id);
      if (row.state === state) throw conflict(`The installation is already ${state}`);
      return save({ ...row, state, updated_at: now() }, event);
    },
  );

  const acceptPermissions = verb('accept permissions', (id: string) => {
    const row = findLive(id);
    const { permissions } = found(apps.get(row.app_id), 'App');
    return save({ ...row, permissions, updated_at: now() }, 'newPermissionsAccepted');
  });

  return {
    list(appId, query) {
      const rows = newestFirst(installations.live().filter(({ app_id }) => app_id === appId));
      const { skip, pagination } = toPage(rows.length, query);
      return { pagination, installations: rows.slice(skip, skip + query.limit).map(show) };
    },
    get: (appId, id) => show(findOwn(appId, id)),
    ofOrganization: (appId, organizationId) => show(found(findOn(appId, organizationId), 'Installation')),
    getActive(appId, id) {
      const row = findOwn(appId, id);
      if (row.state === 'suspended') throw forbidden('The installation is suspended');
      return row;
    },
    install,
    installAsked(body) {
      const faults: string[] = [];
      const fields = readFields(body, faults);
      const [appId, organizationId] = [fields.text('appId'), fields.text('organizationId')];
      refuseFaults(faults);
      return install(appId, organizationId);
    },
    uninstall: id => change(id, 'uninstalled', 'uninstalled'),
    suspend: id => change(id, 'suspended', 'suspended'),
    unsuspend: id => change(id, 'active', 'unsuspended'),
    acceptPermissions,
    all: () => oldestFirst(installations.rows()).map(row => ({ ...show(row), state: row.state })),
  };
}

import { conflict, forbidden, found } from '../http/errors.js';
import { type PageQuery, pageOf } from '../http/pages.js';
import { readBody } from '../http/validate.js';
import type { InstallationRow, InstallationState } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { newestFirst, oldestFirst } from '../store/tables.js';
import type { Announcer, LifeCycleEvent } from '../webhooks/announcer.js';
import { installation } from './shapes.js';

export type Installations = ReturnType<typeof createInstallations>;

export function createInstallations({ tables, newId, now, verb }: Store, announcer: Announcer) {
  const { apps, organizations, installations } = tables;

  function show(row: InstallationRow) {
    return installation(row, apps.find(row.appId), organizations.find(row.organizationId));
  }

  /** Not where it was uninstalled, nor that of another app. */
  function findLive(id: string, ofApp?: string): InstallationRow {
    const row = installations.get(id);
    const isThere = row?.state !== 'uninstalled' && (ofApp ?? row?.appId) === row?.appId;
    return found(isThere ? row : undefined, 'Installation');
  }

  function findOn(ofApp: string, organizationId: string): InstallationRow | undefined {
    const rows = installations.rows(organizationId);
    return rows.find(({ appId, state }) => appId === ofApp && state !== 'uninstalled');
  }

  function save(row: InstallationRow, event: LifeCycleEvent) {
    installations.put(row);
    announcer.announce(event, row.id);
    return show(row);
  }

  const install = verb('install', (appId: string, organizationId: string) => {
    const { permissions } = apps.find(appId);
    organizations.find(organizationId);
    if (findOn(appId, organizationId) !== undefined) throw conflict('The app is already installed');
    const row = { id: newId(), appId, organizationId, permissions, createdAt: now(), updatedAt: now() };
    return save({ ...row, state: 'active' }, 'installed');
  });

  const change = verb(
    'change installation',
    (id: string, state: InstallationState, event: LifeCycleEvent) => {
      const row = findLive(id);
      if (row.state === state) throw conflict(`The installation is already ${state}`);
      return save({ ...row, state, updatedAt: now() }, event);
    },
  );

  /** Grants what the app asks for now. */
  const acceptPermissions = verb('accept permissions', (id: string) => {
    const row = findLive(id);
    const { permissions } = apps.find(row.appId);
    return save({ ...row, permissions, updatedAt: now() }, 'newPermissionsAccepted');
  });

  return {
    list(ofApp: string, query: PageQuery) {
      const rows = newestFirst(installations.live().filter(({ appId }) => appId === ofApp));
      const { pagination, items } = pageOf(rows, query);
      return { pagination, installations: items.map(show) };
    },
    get: (ofApp: string, id: string) => show(findLive(id, ofApp)),
    ofOrganization: (ofApp: string, organizationId: string) =>
      show(found(findOn(ofApp, organizationId), 'Installation')),
    /** For minting: refuses a suspended one. */
    getActive(ofApp: string, id: string): InstallationRow {
      const row = findLive(id, ofApp);
      if (row.state === 'suspended') throw forbidden('The installation is suspended');
      return row;
    },
    install,
    /** The same, of the `appId` and the `organizationId` of a body. */
    installAsked(body: unknown) {
      const both = readBody(body, fields => [fields.text('appId'), fields.text('organizationId')] as const);
      return install(...both);
    },
    uninstall: (id: string) => change(id, 'uninstalled', 'uninstalled'),
    suspend: (id: string) => change(id, 'suspended', 'suspended'),
    unsuspend: (id: string) => change(id, 'active', 'unsuspended'),
    acceptPermissions,
    /** The human side sees every one, and its state. */
    all: () => oldestFirst(installations.rows()).map(row => ({ ...show(row), state: row.state })),
  };
}

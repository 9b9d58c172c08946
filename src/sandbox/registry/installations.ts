import { conflict, forbidden, requireFound } from '../http/errors.js';
import { type PageRequest, paginate } from '../http/paging.js';
import { readBody } from '../http/read-body.js';
import type { InstallationRecord, InstallationStatus } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { sortNewestFirst, sortOldestFirst } from '../store/tables.js';
import type { WebhookPublisher, InstallationEvent } from '../webhooks/publisher.js';
import { toInstallationJson } from './to-json.js';

export type InstallationService = ReturnType<typeof createInstallationService>;

/** Creates the part of the registry that installs apps on organizations and changes the state of installations. */
export function createInstallationService(
  { tables, newId, now, defineOperation }: SandboxStore,
  publisher: WebhookPublisher,
) {
  const { apps, organizations, installations } = tables;

  /** Converts an installation to JSON, with its app and organization. */
  function toJson(row: InstallationRecord) {
    return toInstallationJson(row, apps.getOrThrow(row.appId), organizations.getOrThrow(row.organizationId));
  }

  /** Returns the installation. Throws status 404 if it was uninstalled or belongs to another app. */
  function getInstalled(id: string, appId?: string): InstallationRecord {
    const row = installations.get(id);
    const isOfApp = appId === undefined || row?.appId === appId;
    const isLive = row?.state !== 'uninstalled';
    return requireFound(isLive && isOfApp ? row : undefined, 'Installation');
  }

  /** Finds the app's installation on an organization, unless it was uninstalled. */
  function findByOrganization(appId: string, organizationId: string): InstallationRecord | undefined {
    const rows = installations.list(organizationId);
    return rows.find(row => row.appId === appId && row.state !== 'uninstalled');
  }

  /** Stores an installation and publishes the webhook for its event. */
  function saveAndPublish(row: InstallationRecord, event: InstallationEvent) {
    installations.put(row);
    publisher.publishInstallationEvent(event, row.id);
    return toJson(row);
  }

  const install = defineOperation('install', (appId: string, organizationId: string) => {
    const { permissions } = apps.getOrThrow(appId);
    organizations.getOrThrow(organizationId);
    if (findByOrganization(appId, organizationId) !== undefined)
      throw conflict('The app is already installed');
    const row = { id: newId(), appId, organizationId, permissions, createdAt: now(), updatedAt: now() };
    return saveAndPublish({ ...row, state: 'active' }, 'installed');
  });

  const change = defineOperation(
    'change installation',
    (id: string, state: InstallationStatus, event: InstallationEvent) => {
      const row = getInstalled(id);
      if (row.state === state) throw conflict(`The installation is already ${state}`);
      return saveAndPublish({ ...row, state, updatedAt: now() }, event);
    },
  );

  /** Grants an installation the permissions that the app requests now. */
  const acceptPermissions = defineOperation('accept permissions', (id: string) => {
    const row = getInstalled(id);
    const { permissions } = apps.getOrThrow(row.appId);
    return saveAndPublish({ ...row, permissions, updatedAt: now() }, 'newPermissionsAccepted');
  });

  return {
    /** Returns one page of the app's installations. */
    list(appId: string, query: PageRequest) {
      const rows = sortNewestFirst(installations.listLive().filter(row => row.appId === appId));
      const { pagination, items } = paginate(rows, query);
      return { pagination, installations: items.map(toJson) };
    },
    get: (appId: string, id: string) => toJson(getInstalled(id, appId)),
    getForOrganization: (appId: string, organizationId: string) =>
      toJson(requireFound(findByOrganization(appId, organizationId), 'Installation')),
    /** Returns the installation for which to create a token. Throws status 403 if it is suspended. */
    getActive(appId: string, id: string): InstallationRecord {
      const row = getInstalled(id, appId);
      if (row.state === 'suspended') throw forbidden('The installation is suspended');
      return row;
    },
    install,
    /** Installs an app on an organization. The request body names both. */
    installFromBody(body: unknown) {
      const { appId, organizationId } = readBody(body, fields => ({
        appId: fields.text('appId'),
        organizationId: fields.text('organizationId'),
      }));
      return install(appId, organizationId);
    },
    uninstall: (id: string) => change(id, 'uninstalled', 'uninstalled'),
    suspend: (id: string) => change(id, 'suspended', 'suspended'),
    unsuspend: (id: string) => change(id, 'active', 'unsuspended'),
    acceptPermissions,
    /** Lists all installations with their states, which the registry itself does not show. */
    listAll: () => sortOldestFirst(installations.list()).map(row => ({ ...toJson(row), state: row.state })),
  };
}

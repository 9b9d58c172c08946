import { conflict, forbidden, requireFound } from '../http/api-errors.js';
import { type PageRequest, paginate } from '../http/paging.js';
import { readBody } from '../http/request-body.js';
import type { InstallationRecord, InstallationStatus } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { sortNewestFirst, sortOldestFirst } from '../store/tables.js';
import type { WebhookPublisher, InstallationEvent } from '../webhooks/publisher.js';
import { toInstallationJson } from './to-json.js';

export type InstallationService = ReturnType<typeof createInstallationService>;

/** Creates the service that installs, suspends and uninstalls apps on organizations. */
export function createInstallationService(
  { tables, newId, now, defineOperation }: SandboxStore,
  publisher: WebhookPublisher,
) {
  const { apps, organizations, installations } = tables;

  /** Converts an installation to JSON, including the app and the organization. */
  function toJson(row: InstallationRecord) {
    return toInstallationJson(row, apps.getOrThrow(row.appId), organizations.getOrThrow(row.organizationId));
  }

  /** Returns an installation. Throws a 404 error if it is unknown, is uninstalled, or belongs to an app other than `appId`. */
  function getLiveInstallation(id: string, appId?: string): InstallationRecord {
    const row = installations.get(id);
    const isOfApp = appId === undefined || row?.appId === appId;
    const isLive = row?.state !== 'uninstalled';
    return requireFound(isLive && isOfApp ? row : undefined, 'Installation');
  }

  /** Finds an app's installation on an organization. Ignores uninstalled installations. */
  function findByOrganization(appId: string, organizationId: string): InstallationRecord | undefined {
    const rows = installations.list(organizationId);
    return rows.find(row => row.appId === appId && row.state !== 'uninstalled');
  }

  /** Stores an installation, publishes a webhook for the event and returns the installation's JSON. */
  function saveInstallation(row: InstallationRecord, event: InstallationEvent) {
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
    return saveInstallation({ ...row, state: 'active' }, 'installed');
  });

  const change = defineOperation(
    'change installation',
    (id: string, state: InstallationStatus, event: InstallationEvent) => {
      const row = getLiveInstallation(id);
      if (row.state === state) throw conflict(`The installation is already ${state}`);
      return saveInstallation({ ...row, state, updatedAt: now() }, event);
    },
  );

  /** Grants an installation all permissions that the app requests. */
  const acceptPermissions = defineOperation('accept permissions', (id: string) => {
    const row = getLiveInstallation(id);
    const { permissions } = apps.getOrThrow(row.appId);
    return saveInstallation({ ...row, permissions, updatedAt: now() }, 'newPermissionsAccepted');
  });

  return {
    /** Returns one page of an app's installations. */
    list(appId: string, query: PageRequest) {
      const rows = sortNewestFirst(installations.listLive().filter(row => row.appId === appId));
      const { pagination, items } = paginate(rows, query);
      return { pagination, installations: items.map(toJson) };
    },
    get: (appId: string, id: string) => toJson(getLiveInstallation(id, appId)),
    getForOrganization: (appId: string, organizationId: string) =>
      toJson(requireFound(findByOrganization(appId, organizationId), 'Installation')),
    /**
     * Returns an installation of an app. Throws a 404 error if it is unknown or uninstalled, and a 403 error if it is suspended.
     */
    getActive(appId: string, id: string): InstallationRecord {
      const row = getLiveInstallation(id, appId);
      if (row.state === 'suspended') throw forbidden('The installation is suspended');
      return row;
    },
    install,
    /** Installs an app on an organization. The request body contains `appId` and `organizationId`. */
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
    /** Lists all installations, including their states and uninstalled ones. */
    listAll: () => sortOldestFirst(installations.list()).map(row => ({ ...toJson(row), state: row.state })),
  };
}

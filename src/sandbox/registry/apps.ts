import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AppPublicKey, parsePublicKey } from '../http/app-jwt.js';
import { conflict, requireFound } from '../http/api-errors.js';
import { type BodyFields, NOT_EMPTY, readBody, type TextRule } from '../http/request-body.js';
import type { AppKey, AppRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { sortOldestFirst } from '../store/tables.js';
import { readGrants } from './permissions.js';

const HTTP_URL: TextRule = { isValid: isHttpUrl, expected: 'an http or https address' };

/** The settings of an app that its developer can change. */
type AppSettings = Pick<AppRecord, 'permissions' | 'webhookUrl' | 'webhookSecret' | 'callbackUrls'>;

const DEFAULT_SETTINGS: AppSettings = {
  permissions: {},
  webhookUrl: null,
  webhookSecret: null,
  callbackUrls: [],
};

/** Creates the service that registers apps and changes their settings and keys. */
export function createAppService({ tables: { apps }, file, newId, now, defineOperation }: SandboxStore) {
  const save = defineOperation('save app', (row: AppRecord) => apps.put(row));

  const create = defineOperation(
    'register app',
    (newApp: Omit<AppRecord, 'id' | 'createdAt' | 'keys'>, keys: readonly AppPublicKey[]) => {
      const isTaken = apps.list().some(row => row.name === newApp.name || row.nameId === newApp.nameId);
      if (isTaken) throw conflict('An app with this name exists');
      const row = addPublicKeys({ id: newId(), ...newApp, createdAt: now(), keys: [] }, keys, now());
      apps.put(row);
      return row;
    },
  );

  /** Stores a changed app and returns the JSON of the app. */
  function saveApp(row: AppRecord) {
    save(row);
    return toAppJson(row);
  }

  return {
    list: () => sortOldestFirst(apps.list()).map(toAppJson),
    get: (id: string) => toAppJson(apps.getOrThrow(id)),
    /**
     * Registers the app that a request body describes. If the body asks for a key pair and contains no public key, generates one
     * and writes the private key to a file.
     */
    register(body: unknown): ReturnType<typeof toAppJson> & { readonly privateKeyFile?: string } {
      const { generatesKey, keys, ...newApp } = readBody(body, (fields, problems) => {
        const name = fields.text('name', NOT_EMPTY);
        return {
          name,
          nameId: toNameId(name),
          ...readAppSettings(fields, DEFAULT_SETTINGS, true, problems),
          keys: readPublicKeys(fields.value('publicKeys') ?? [], problems),
          generatesKey: fields.boolean('generateKey', false),
        };
      });
      if (!generatesKey || keys.length > 0) return toAppJson(create(newApp, keys));
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const row = create(newApp, readPublicKeys([publicKey.export({ type: 'spki', format: 'pem' })], []));
      // Only the public key enters the registry. The app gets the private key in a file.
      const privateKeyFile = join(dirname(file), `${newApp.nameId}.private-key.pem`);
      writeFileSync(privateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
      return { ...toAppJson(row), privateKeyFile };
    },
    /**
     * Changes an app's permissions, webhook URL, webhook secret and callback URLs to those in a request body. Absent fields stay
     * unchanged.
     */
    change(id: string, body: unknown) {
      const old = apps.getOrThrow(id);
      const requestsInfo = 'organization_info' in old.permissions;
      return saveApp({
        ...old,
        ...readBody(body, (fields, problems) => readAppSettings(fields, old, requestsInfo, problems)),
      });
    },
    /** Adds the public key in a request body to an app. */
    addKey(id: string, body: unknown) {
      const old = apps.getOrThrow(id);
      const keys = readBody(body, (fields, problems) =>
        readPublicKeys([fields.value('publicKey')], problems),
      );
      return saveApp(addPublicKeys(old, keys, now()));
    },
    /** Removes the public key with this fingerprint from an app. Throws a 404 error for an unknown app or key. */
    removeKey(id: string, fingerprint: string) {
      const old = apps.get(id);
      const keys = (old?.keys ?? []).filter(key => key.fingerprint !== fingerprint);
      return saveApp({
        ...requireFound(keys.length === old?.keys.length ? undefined : old, 'Key'),
        keys,
      });
    },
  };
}

/** Converts an app to the JSON of the control API, without the webhook secret. */
function toAppJson({ webhookSecret, keys, ...shown }: AppRecord) {
  const fingerprints = keys.map(({ fingerprint, createdAt }) => ({ fingerprint, createdAt }));
  return { ...shown, hasWebhookSecret: webhookSecret !== null, keys: fingerprints };
}

/** Returns a copy of an app with public keys added. Skips keys that the app already has. */
function addPublicKeys(row: AppRecord, newKeys: readonly AppPublicKey[], createdAt: string): AppRecord {
  const keys = new Map<string, AppKey>(row.keys.map(key => [key.fingerprint, key]));
  for (const key of newKeys) if (!keys.has(key.fingerprint)) keys.set(key.fingerprint, { ...key, createdAt });
  return { ...row, keys: [...keys.values()] };
}

/**
 * Parses a list of public keys in PEM format and returns the valid ones. Adds an error message to `problems` if a key is invalid.
 */
function readPublicKeys(value: unknown, problems: string[]): AppPublicKey[] {
  const pems: readonly unknown[] = Array.isArray(value) ? value : [null];
  const keys = pems.flatMap(pem => (typeof pem === 'string' ? (parsePublicKey(pem) ?? []) : []));
  if (keys.length < pems.length)
    problems.push('publicKeys must be a list of RSA public keys in PEM format, 2048 bits or more');
  return keys;
}

/**
 * Reads an app's settings from a request body; absent settings keep their values in `old`. An absent `organizationInfo` (the
 * permission to read the organization) becomes `organizationInfoByDefault`.
 */
function readAppSettings(
  fields: BodyFields,
  old: AppSettings,
  organizationInfoByDefault: boolean,
  problems: string[],
): AppSettings {
  const includesOrganizationInfo = fields.boolean('organizationInfo', organizationInfoByDefault);
  const textOrOld = (name: 'webhookUrl' | 'webhookSecret', rule: TextRule) =>
    fields.value(name) === undefined ? old[name] : fields.optionalText(name, rule);
  return {
    permissions: readGrants(
      fields.value('permissions') ?? old.permissions,
      includesOrganizationInfo,
      problems,
    ),
    webhookUrl: textOrOld('webhookUrl', HTTP_URL),
    webhookSecret: textOrOld('webhookSecret', NOT_EMPTY),
    callbackUrls: readCallbackUrls(fields.value('callbackUrls') ?? old.callbackUrls, problems),
  };
}

/** Returns the valid callback URLs of a list. Adds an error message to `problems` if a URL is invalid. */
function readCallbackUrls(value: unknown, problems: string[]): readonly string[] {
  const urls: readonly unknown[] = Array.isArray(value) ? value : [value];
  const validUrls = urls.filter(url => typeof url === 'string').filter(isHttpUrl);
  if (validUrls.length !== urls.length) problems.push('callbackUrls must be http or https addresses');
  return validUrls;
}

/** Converts an app's name to a form for URLs: `My App` → `my-app`. */
function toNameId(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** Returns whether a text is a valid http or https URL. */
function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

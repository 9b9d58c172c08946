import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AppPublicKey, parsePublicKey } from '../http/app-jwt.js';
import { conflict, requireFound } from '../http/errors.js';
import { type BodyFields, NOT_EMPTY, readBody, type TextRule } from '../http/read-body.js';
import type { AppKey, AppRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { sortOldestFirst } from '../store/tables.js';
import { readGrants } from './permissions.js';

const HTTP_URL: TextRule = { isValid: isHttpUrl, expected: 'an http or https address' };

/** What an app's developer can change. */
type AppSettings = Pick<AppRecord, 'permissions' | 'webhookUrl' | 'webhookSecret' | 'callbackUrls'>;

const DEFAULT_SETTINGS: AppSettings = {
  permissions: {},
  webhookUrl: null,
  webhookSecret: null,
  callbackUrls: [],
};

/** Registers apps and changes them, as developers do in the registry's dashboard. */
export function createApps({ tables: { apps }, file, newId, now, defineOperation }: SandboxStore) {
  const save = defineOperation('save app', (row: AppRecord) => apps.put(row));

  const create = defineOperation(
    'register app',
    (newApp: Omit<AppRecord, 'id' | 'createdAt' | 'keys'>, keys: readonly AppPublicKey[]) => {
      const isTaken = apps.list().some(row => row.name === newApp.name || row.nameId === newApp.nameId);
      if (isTaken) throw conflict('An app with this name exists');
      const row = addKeys({ id: newId(), ...newApp, createdAt: now(), keys: [] }, keys, now());
      apps.put(row);
      return row;
    },
  );

  /** Stores a changed app and returns it as JSON. */
  function saveAndReturnJson(row: AppRecord) {
    save(row);
    return toAppJson(row);
  }

  return {
    list: () => sortOldestFirst(apps.list()).map(toAppJson),
    get: (id: string) => toAppJson(apps.getOrThrow(id)),
    /** Registers an app. With `generateKey` and no key of its own, it gets a new key pair, and the answer names the private key's file. */
    register(body: unknown): ReturnType<typeof toAppJson> & { readonly privateKeyFile?: string } {
      const { generatesKey, keys, ...newApp } = readBody(body, (fields, problems) => {
        const name = fields.text('name', NOT_EMPTY);
        return {
          name,
          nameId: toNameId(name),
          ...readAppSettings(fields, DEFAULT_SETTINGS, true, problems),
          keys: readKeys(fields.value('publicKeys') ?? [], problems),
          generatesKey: fields.boolean('generateKey', false),
        };
      });
      if (!generatesKey || keys.length > 0) return toAppJson(create(newApp, keys));
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const row = create(newApp, readKeys([publicKey.export({ type: 'spki', format: 'pem' })], []));
      const privateKeyFile = join(dirname(file), `${newApp.nameId}.private-key.pem`);
      writeFileSync(privateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
      return { ...toAppJson(row), privateKeyFile };
    },
    /** Changes the requested permissions, the webhook URL and secret, and the callback URLs. Absent fields stay unchanged. */
    change(id: string, body: unknown) {
      const old = apps.getOrThrow(id);
      const requestsInfo = 'organization_info' in old.permissions;
      return saveAndReturnJson({
        ...old,
        ...readBody(body, (fields, problems) => readAppSettings(fields, old, requestsInfo, problems)),
      });
    },
    /** Adds the `publicKey` of a body to an app. */
    addKey(id: string, body: unknown) {
      const old = apps.getOrThrow(id);
      const keys = readBody(body, (fields, problems) => readKeys([fields.value('publicKey')], problems));
      return saveAndReturnJson(addKeys(old, keys, now()));
    },
    /** Removes a public key from an app, or throws 404 if the app does not have it. */
    removeKey(id: string, fingerprint: string) {
      const old = apps.get(id);
      const keys = (old?.keys ?? []).filter(key => key.fingerprint !== fingerprint);
      return saveAndReturnJson({
        ...requireFound(keys.length === old?.keys.length ? undefined : old, 'Key'),
        keys,
      });
    },
  };
}

/** Converts an app to JSON for the control API, without its webhook secret. */
function toAppJson({ webhookSecret, keys, ...shown }: AppRecord) {
  const fingerprints = keys.map(({ fingerprint, createdAt }) => ({ fingerprint, createdAt }));
  return { ...shown, hasWebhookSecret: webhookSecret !== null, keys: fingerprints };
}

/** Adds public keys to an app, except those that it has already. */
function addKeys(row: AppRecord, newKeys: readonly AppPublicKey[], createdAt: string): AppRecord {
  const keys = new Map<string, AppKey>(row.keys.map(key => [key.fingerprint, key]));
  for (const key of newKeys) if (!keys.has(key.fingerprint)) keys.set(key.fingerprint, { ...key, createdAt });
  return { ...row, keys: [...keys.values()] };
}

/** Parses a list of public keys. Adds a problem if one is invalid. */
function readKeys(value: unknown, problems: string[]): AppPublicKey[] {
  const pems: readonly unknown[] = Array.isArray(value) ? value : [null];
  const keys = pems.flatMap(pem => (typeof pem === 'string' ? (parsePublicKey(pem) ?? []) : []));
  if (keys.length < pems.length)
    problems.push('publicKeys must be a list of RSA public keys in PEM form, 2048 bits or more');
  return keys;
}

/** Reads the settings of an app from a body. Fields that are absent keep their old value. */
function readAppSettings(
  fields: BodyFields,
  old: AppSettings,
  requestsInfo: boolean,
  problems: string[],
): AppSettings {
  const includesInfo = fields.boolean('organizationInfo', requestsInfo);
  const textOrOld = (name: 'webhookUrl' | 'webhookSecret', rule: TextRule) =>
    fields.value(name) === undefined ? old[name] : fields.optionalText(name, rule);
  return {
    permissions: readGrants(fields.value('permissions') ?? old.permissions, includesInfo, problems),
    webhookUrl: textOrOld('webhookUrl', HTTP_URL),
    webhookSecret: textOrOld('webhookSecret', NOT_EMPTY),
    callbackUrls: readUrls(fields.value('callbackUrls') ?? old.callbackUrls, problems),
  };
}

/** Returns the valid URLs of a list. Adds a problem if one is invalid. */
function readUrls(value: unknown, problems: string[]): readonly string[] {
  const urls: readonly unknown[] = Array.isArray(value) ? value : [value];
  const validUrls = urls.filter(url => typeof url === 'string').filter(isHttpUrl);
  if (validUrls.length !== urls.length) problems.push('callbackUrls must be http or https addresses');
  return validUrls;
}

/** Converts a name to the form for URLs: lower-case letters, digits and hyphens. */
function toNameId(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

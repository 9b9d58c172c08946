import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PublicKey, readPublicKey } from '../http/app-jwt.js';
import { conflict, found } from '../http/errors.js';
import { readGrants } from './permissions.js';
import type { AppKey, AppRow } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { oldestFirst } from '../store/table.js';
import { type Fields, NOT_EMPTY, readFields, refuseFaults, type TextRule } from '../http/validate.js';

const IS_URL: TextRule = { holds: isHttpUrl, expected: 'an http or https address' };

interface AppShape {
  readonly id: string;
  readonly name: string;
  readonly nameId: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly webhookUrl: string | null;
  /** Where people may be sent after an installation, the usual one first. */
  readonly callbackUrls: readonly string[];
  /** The secret itself is never shown again. */
  readonly hasWebhookSecret: boolean;
  readonly keys: readonly { readonly fingerprint: string; readonly createdAt: string }[];
  readonly createdAt: string;
}

export interface Apps {
  list(): readonly AppShape[];
  get(id: string): AppShape;
  /** With `generateKey` the answer names the file that now holds the private key. */
  register(body: unknown): AppShape & { readonly privateKeyFile?: string };
  /** Permissions asked for, webhook URL, secret, callback URLs: what is absent stays. */
  change(id: string, body: unknown): AppShape;
  addKey(id: string, body: unknown): AppShape;
  removeKey(id: string, fingerprint: string): AppShape;
}

export function createApps({ tables, file, newId, now, verb }: Store): Apps {
  const { apps } = tables;

  function find(id: string): AppRow {
    return found(apps.get(id), 'App');
  }

  const save = verb('save app', (row: AppRow) => apps.put(row));

  const create = verb(
    'register app',
    (made: Omit<AppRow, 'id' | 'created_at' | 'keys'>, keys: PublicKey[]) => {
      const isTaken = apps.rows().some(row => row.name === made.name || row.name_id === made.name_id);
      if (isTaken) throw conflict('An app with this name exists');
      const row = { ...made, id: newId(), created_at: now(), keys: [] };
      apps.put(withKeys(row, keys, now()));
      return row.id;
    },
  );

  function register(body: unknown): AppShape & { readonly privateKeyFile?: string } {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const name = fields.text('name', NOT_EMPTY);
    const made = {
      name,
      name_id: toNameId(name),
      permissions: readPermissions(fields, null, faults),
      webhook_url: fields.optionalText('webhookUrl', IS_URL),
      webhook_secret: fields.optionalText('webhookSecret', NOT_EMPTY),
      callback_urls: readUrls(fields.value('callbackUrls'), faults) ?? [],
    };
    const given: unknown = fields.value('publicKeys') ?? [];
    if (!Array.isArray(given)) faults.push('publicKeys must be a list');
    const keys = readKeys(Array.isArray(given) ? given : [], faults);
    const wantsKey = fields.flag('generateKey', false) && keys.length === 0;
    refuseFaults(faults);
    if (!wantsKey) return show(find(create(made, keys)));
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const id = create(made, [...keys, ...readKeys([pem], faults)]);
    const privateKeyFile = join(dirname(file), `${made.name_id}.private-key.pem`);
    writeFileSync(privateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    return { ...show(find(id)), privateKeyFile };
  }

  function change(id: string, body: unknown): AppShape {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const old = find(id);
    const kept = (name: string, value: string | null) => (fields.value(name) === undefined ? value : null);
    const row = {
      ...old,
      permissions: readPermissions(fields, old, faults),
      webhook_url: fields.optionalText('webhookUrl', IS_URL) ?? kept('webhookUrl', old.webhook_url),
      webhook_secret:
        fields.optionalText('webhookSecret', NOT_EMPTY) ?? kept('webhookSecret', old.webhook_secret),
      callback_urls: readUrls(fields.value('callbackUrls'), faults) ?? old.callback_urls,
    };
    refuseFaults(faults);
    save(row);
    return show(row);
  }

  function addKey(id: string, body: unknown): AppShape {
    const faults: string[] = [];
    const pem = readFields(body, faults).text('publicKey');
    refuseFaults(faults);
    const old = find(id);
    const keys = readKeys([pem], faults);
    refuseFaults(faults);
    const row = withKeys(old, keys, now());
    save(row);
    return show(row);
  }

  function removeKey(id: string, fingerprint: string): AppShape {
    const old = apps.get(id);
    const keys = (old?.keys ?? []).filter(key => key.fingerprint !== fingerprint);
    const row = { ...found(keys.length === old?.keys.length ? undefined : old, 'Key'), keys };
    save(row);
    return show(row);
  }

  return {
    list: () => oldestFirst(apps.rows()).map(show),
    get: id => show(find(id)),
    register,
    change,
    addKey,
    removeKey,
  };
}

function show(row: AppRow): AppShape {
  return {
    id: row.id,
    name: row.name,
    nameId: row.name_id,
    permissions: row.permissions,
    webhookUrl: row.webhook_url,
    callbackUrls: row.callback_urls,
    hasWebhookSecret: row.webhook_secret !== null,
    keys: row.keys.map(key => ({ fingerprint: key.fingerprint, createdAt: key.created_at })),
    createdAt: row.created_at,
  };
}

/** The same key twice is there once. */
function withKeys(row: AppRow, added: readonly PublicKey[], created_at: string): AppRow {
  const keys = new Map<string, AppKey>(row.keys.map(key => [key.fingerprint, key]));
  for (const key of added) if (!keys.has(key.fingerprint)) keys.set(key.fingerprint, { ...key, created_at });
  return { ...row, keys: [...keys.values()] };
}

function readKeys(pems: readonly unknown[], faults: string[]): PublicKey[] {
  const keys = pems.flatMap(pem => (typeof pem === 'string' ? (readPublicKey(pem) ?? []) : []));
  if (keys.length < pems.length)
    faults.push('publicKeys must be RSA public keys in PEM form, 2048 bits or more');
  return keys;
}

/** As they were, where nothing is said of them. */
function readPermissions(fields: Fields, old: AppRow | null, faults: string[]) {
  const hadInfo = old === null || 'organization_info' in old.permissions;
  const withInfo = fields.flag('organizationInfo', hadInfo);
  return readGrants(fields.value('permissions') ?? old?.permissions ?? {}, withInfo, faults);
}

/** Null where they are not spoken of. */
function readUrls(given: unknown, faults: string[]): readonly string[] | null {
  if (given === undefined || given === null) return null;
  const urls: readonly unknown[] = Array.isArray(given) ? given : [given];
  const usable = urls.filter(url => typeof url === 'string').filter(isHttpUrl);
  if (usable.length !== urls.length) faults.push('callbackUrls must be http or https addresses');
  return usable;
}

function toNameId(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

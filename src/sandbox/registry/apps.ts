import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PublicKey, readPublicKey } from '../http/app-jwt.js';
import { conflict, found } from '../http/errors.js';
import { type Fields, NOT_EMPTY, readBody, type TextRule } from '../http/validate.js';
import type { AppKey, AppRow } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { oldestFirst } from '../store/tables.js';
import { readGrants } from './permissions.js';

const IS_URL: TextRule = { holds: isHttpUrl, expected: 'an http or https address' };

type Told = Pick<AppRow, 'permissions' | 'webhookUrl' | 'webhookSecret' | 'callbackUrls'>;

const UNTOLD: Told = { permissions: {}, webhookUrl: null, webhookSecret: null, callbackUrls: [] };

export function createApps({ tables: { apps }, file, newId, now, verb }: Store) {
  const save = verb('save app', (row: AppRow) => apps.put(row));

  const create = verb(
    'register app',
    (made: Omit<AppRow, 'id' | 'createdAt' | 'keys'>, keys: readonly PublicKey[]) => {
      const isTaken = apps.rows().some(row => row.name === made.name || row.nameId === made.nameId);
      if (isTaken) throw conflict('An app with this name exists');
      const row = withKeys({ id: newId(), ...made, createdAt: now(), keys: [] }, keys, now());
      apps.put(row);
      return row;
    },
  );

  function changed(row: AppRow) {
    save(row);
    return show(row);
  }

  return {
    list: () => oldestFirst(apps.rows()).map(show),
    get: (id: string) => show(apps.find(id)),
    /** With `generateKey` an app without a key is given one, and the answer names the file that holds it. */
    register(body: unknown): ReturnType<typeof show> & { readonly privateKeyFile?: string } {
      const { generates, keys, ...made } = readBody(body, (fields, faults) => {
        const name = fields.text('name', NOT_EMPTY);
        return {
          name,
          nameId: toNameId(name),
          ...readTold(fields, UNTOLD, true, faults),
          keys: readKeys(fields.value('publicKeys') ?? [], faults),
          generates: fields.flag('generateKey', false),
        };
      });
      if (!generates || keys.length > 0) return show(create(made, keys));
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const row = create(made, readKeys([publicKey.export({ type: 'spki', format: 'pem' })], []));
      const privateKeyFile = join(dirname(file), `${made.nameId}.private-key.pem`);
      writeFileSync(privateKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
      return { ...show(row), privateKeyFile };
    },
    /** Permissions asked for, webhook URL, secret, callback URLs: what is absent stays. */
    change(id: string, body: unknown) {
      const old = apps.find(id);
      const hadInfo = 'organization_info' in old.permissions;
      return changed({
        ...old,
        ...readBody(body, (fields, faults) => readTold(fields, old, hadInfo, faults)),
      });
    },
    addKey(id: string, body: unknown) {
      const old = apps.find(id);
      const keys = readBody(body, (fields, faults) => readKeys([fields.value('publicKey')], faults));
      return changed(withKeys(old, keys, now()));
    },
    removeKey(id: string, fingerprint: string) {
      const old = apps.get(id);
      const keys = (old?.keys ?? []).filter(key => key.fingerprint !== fingerprint);
      return changed({ ...found(keys.length === old?.keys.length ? undefined : old, 'Key'), keys });
    },
  };
}

/** The secret itself is never shown again. */
function show({ webhookSecret, keys, ...shown }: AppRow) {
  const fingerprints = keys.map(({ fingerprint, createdAt }) => ({ fingerprint, createdAt }));
  return { ...shown, hasWebhookSecret: webhookSecret !== null, keys: fingerprints };
}

/** The same key twice is there once. */
function withKeys(row: AppRow, added: readonly PublicKey[], createdAt: string): AppRow {
  const keys = new Map<string, AppKey>(row.keys.map(key => [key.fingerprint, key]));
  for (const key of added) if (!keys.has(key.fingerprint)) keys.set(key.fingerprint, { ...key, createdAt });
  return { ...row, keys: [...keys.values()] };
}

function readKeys(given: unknown, faults: string[]): PublicKey[] {
  const pems: readonly unknown[] = Array.isArray(given) ? given : [null];
  const keys = pems.flatMap(pem => (typeof pem === 'string' ? (readPublicKey(pem) ?? []) : []));
  if (keys.length < pems.length)
    faults.push('publicKeys must be a list of RSA public keys in PEM form, 2048 bits or more');
  return keys;
}

/** As it was, where nothing is said of it. */
function readTold(fields: Fields, old: Told, hadInfo: boolean, faults: string[]): Told {
  const withInfo = fields.flag('organizationInfo', hadInfo);
  const text = (name: 'webhookUrl' | 'webhookSecret', rule: TextRule) =>
    fields.value(name) === undefined ? old[name] : fields.optionalText(name, rule);
  return {
    permissions: readGrants(fields.value('permissions') ?? old.permissions, withInfo, faults),
    webhookUrl: text('webhookUrl', IS_URL),
    webhookSecret: text('webhookSecret', NOT_EMPTY),
    callbackUrls: readUrls(fields.value('callbackUrls') ?? old.callbackUrls, faults),
  };
}

function readUrls(given: unknown, faults: string[]): readonly string[] {
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

import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPublicKey } from '../http/app-jwt.js';
import { conflict, found } from '../http/errors.js';
import { createCallbackUrls } from './callback-urls.js';
import { type Grants, parseGrants, readGrants } from './permissions.js';
import type { AppRow } from '../store/schema.js';
import type { Store } from '../store/store.js';
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

export function createApps({ db, file, newId, write }: Store): Apps {
  const callbacks = createCallbackUrls({ db });
  const find = db.prepare<[string], AppRow>('select * from apps where id = ?');
  const all = db.prepare<[], AppRow>('select * from apps order by created_at, id');
  const findByName = db.prepare<[string, string]>('select 1 from apps where name = ? or name_id = ?');
  const findKeys = db.prepare<[string], { fingerprint: string; created_at: string }>(
    'select fingerprint, created_at from app_keys where app_id = ? order by created_at, fingerprint',
  );
  const insert = db.prepare<[AppRow]>(
    `insert into apps (id, name, name_id, permissions, webhook_url, webhook_secret, created_at)
     values (@id, @name, @name_id, @permissions, @webhook_url, @webhook_secret, @created_at)`,
  );
  const update = db.prepare<[AppRow]>(
    `update apps set permissions = @permissions, webhook_url = @webhook_url, webhook_secret = @webhook_secret
     where id = @id`,
  );
  const insertKey = db.prepare<[string, string, string, string]>(
    'insert or ignore into app_keys (fingerprint, app_id, public_key, created_at) values (?, ?, ?, ?)',
  );
  const deleteKey = db.prepare<[string, string]>('delete from app_keys where app_id = ? and fingerprint = ?');

  function show(row: AppRow): AppShape {
    const keys = findKeys.all(row.id);
    return {
      id: row.id,
      name: row.name,
      nameId: row.name_id,
      permissions: parseGrants(row.permissions),
      webhookUrl: row.webhook_url,
      callbackUrls: callbacks.of(row.id),
      hasWebhookSecret: row.webhook_secret !== null,
      keys: keys.map(key => ({ fingerprint: key.fingerprint, createdAt: key.created_at })),
      createdAt: row.created_at,
    };
  }

  function get(id: string): AppShape {
    return show(found(find.get(id), 'App'));
  }

  function addKeys(id: string, pems: readonly unknown[], now: string): void {
    const faults: string[] = [];
    for (const pem of pems) {
      const key = typeof pem === 'string' ? readPublicKey(pem) : undefined;
      if (key === undefined) faults.push('publicKeys must be RSA public keys in PEM form, 2048 bits or more');
      else insertKey.run(key.fingerprint, id, key.pem, now);
    }
    refuseFaults(faults);
  }

  function register(body: unknown): AppShape & { readonly privateKeyFile?: string } {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const name = fields.text('name', NOT_EMPTY);
    const row: Omit<AppRow, 'created_at'> = {
      id: newId(),
      name,
      name_id: toNameId(name),
      permissions: readPermissions(fields, null, faults),
      webhook_url: fields.optionalText('webhookUrl', IS_URL),
      webhook_secret: fields.optionalText('webhookSecret', NOT_EMPTY),
    };
    const keys: unknown = fields.value('publicKeys') ?? [];
    if (!Array.isArray(keys)) faults.push('publicKeys must be a list');
    const pems: readonly unknown[] = Array.isArray(keys) ? keys : [];
    const wantsKey = fields.flag('generateKey', false);
    const urls = readUrls(fields.value('callbackUrls'), faults);
    refuseFaults(faults);
    return write(now => {
      if (findByName.get(name, row.name_id) !== undefined) throw conflict('An app with this name exists');
      insert.run({ ...row, created_at: now });
      callbacks.replace(row.id, urls ?? []);
      const made = wantsKey ? generateKey(dirname(file), row.name_id) : undefined;
      addKeys(row.id, made === undefined ? pems : [...pems, made.publicKey], now);
      return { ...get(row.id), ...(made && { privateKeyFile: made.privateKeyFile }) };
    });
  }

  function change(id: string, body: unknown): AppShape {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const old = found(find.get(id), 'App');
    const kept = (name: string, value: string | null) => (fields.value(name) === undefined ? value : null);
    const row: AppRow = {
      ...old,
      permissions: readPermissions(fields, parseGrants(old.permissions), faults),
      webhook_url: fields.optionalText('webhookUrl', IS_URL) ?? kept('webhookUrl', old.webhook_url),
      webhook_secret:
        fields.optionalText('webhookSecret', NOT_EMPTY) ?? kept('webhookSecret', old.webhook_secret),
    };
    const urls = readUrls(fields.value('callbackUrls'), faults);
    refuseFaults(faults);
    write(() => {
      update.run(row);
      if (urls !== null) callbacks.replace(id, urls);
    });
    return get(id);
  }

  return {
    list: () => all.all().map(show),
    get,
    register,
    change,
    addKey(id, body) {
      const faults: string[] = [];
      const pem = readFields(body, faults).text('publicKey');
      refuseFaults(faults);
      return write(now => {
        addKeys(get(id).id, [pem], now);
        return get(id);
      });
    },
    removeKey(id, fingerprint) {
      write(() => found(deleteKey.run(id, fingerprint).changes === 1 ? fingerprint : undefined, 'Key'));
      return get(id);
    },
  };
}

/** As they were, where nothing is said of them. */
function readPermissions(fields: Fields, old: Grants | null, faults: string[]): string {
  const hadInfo = old === null || 'organization_info' in old;
  const withInfo = fields.flag('organizationInfo', hadInfo);
  return JSON.stringify(readGrants(fields.value('permissions') ?? old ?? {}, withInfo, faults));
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

function generateKey(folder: string, nameId: string): { publicKey: string; privateKeyFile: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const privateKeyFile = join(folder, `${nameId}.private-key.pem`);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(privateKeyFile, pem, { mode: 0o600 });
  return { publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(), privateKeyFile };
}

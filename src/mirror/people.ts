import { createHash } from 'node:crypto';
import { type Sqlite, write } from '../database/open.js';
import { formatInstant } from './columns.js';
import { addressesIn, namesAddress, normalAddress } from './person.js';

/** People who asked to be forgotten stay forgotten: a hash of the address keeps them out of later reads. */
export interface People {
  /** Removes a person from members and their history; answers how many rows went. */
  forget(email: string, at: number): number;
  /** Answers a test that is false for a member who is to stay forgotten, as far as is known at this moment. */
  admits(): (item: object) => boolean;
  /** Whether a text names none of them. */
  mayKeep(text: string): boolean;
}

interface Member {
  readonly version: number;
  readonly organization_id: string;
  readonly email: string | null;
  readonly document: string;
}

export function createPeople(db: Sqlite): People {
  const remember = db.prepare<[string, string]>(
    'INSERT INTO forgotten_people VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const hashes = db.prepare<[], string>('SELECT email_sha256 FROM forgotten_people').pluck();
  const shrink = db.prepare<[string]>(
    "UPDATE resource_states SET rows = rows - 1 WHERE organization_id = ? AND resource = 'members'",
  );
  const members = removerOf(db, 'members');
  const past = removerOf(db, 'members_past');
  const blank = blankerOf(db);

  return {
    forget: (email, at) => {
      const address = normalAddress(email);
      db.pragma('secure_delete = ON');
      return write(db, () => {
        remember.run(hashOf(address), formatInstant(at));
        const present = members(address);
        for (const { organization_id: organizationId } of present) shrink.run(organizationId);
        blank(address);
        return present.length + past(address).length;
      });
    },
    admits: () => {
      const forgotten = new Set(hashes.all());
      if (forgotten.size === 0) return () => true;
      return item => {
        const email = 'email' in item && typeof item.email === 'string' ? item.email : null;
        return email === null || !isForgotten(forgotten, email);
      };
    },
    mayKeep: text => {
      const forgotten = new Set(hashes.all());
      const named = forgotten.size === 0 ? [] : addressesIn(text);
      return named.every(address => !isForgotten(forgotten, address));
    },
  };
}

/** Removes what names an address, and answers it. Inside a transaction: nothing comes in between. */
function removerOf(db: Sqlite, table: 'members' | 'members_past'): (address: string) => Member[] {
  const all = db.prepare<[], Member>(`SELECT version, organization_id, email, document FROM ${table}`);
  const remove = db.prepare<[number]>(`DELETE FROM ${table} WHERE version = ?`);
  return address => {
    const found = all.all().filter(member => isOf(member, address));
    for (const { version } of found) remove.run(version);
    return found;
  };
}

/** The texts of answers that could not be read as a list. */
function blankerOf(db: Sqlite): (address: string) => void {
  const all = db.prepare<[], { id: number; text: string }>(
    'SELECT rowid AS id, answer_text AS text FROM resource_states WHERE answer_text IS NOT NULL',
  );
  const blank = db.prepare<[number]>('UPDATE resource_states SET answer_text = NULL WHERE rowid = ?');
  return address => {
    for (const { id, text } of all.all()) if (namesAddress(text, address)) blank.run(id);
  };
}

/** Older programs had another form for what is not plain letters. */
export function isForgotten(forgotten: ReadonlySet<string>, email: string): boolean {
  return forgotten.has(hashOf(normalAddress(email))) || forgotten.has(hashOf(email.trim().toLowerCase()));
}

function isOf({ email, document }: Member, address: string): boolean {
  return (email !== null && normalAddress(email) === address) || namesAddress(document, address);
}

function hashOf(address: string): string {
  return createHash('sha256').update(address).digest('hex');
}

import { type Sqlite, write } from '../open.js';
import { formatInstant, type Value } from '../../../resources/columns.js';
import { hashOfAddress, isForgotten, mayKeep } from '../../../mirror/people.js';
import { isOf, namesAddress, normalAddress } from '../../../mirror/person.js';
import type { Tables } from '../../contract/tables.js';
import type { MirrorOperations } from './operations.js';

export interface People extends Pick<MirrorOperations, 'forget' | 'forgottenPeople'> {
  /** Answers a test that is false for the address of one of them. */
  readonly keeps: () => (email: Value | undefined) => boolean;
  /** False for a text that names one of them. Inside the transaction that writes it. */
  readonly mayKeep: (text: string) => boolean;
}

type Member = Pick<Tables['members'], 'version' | 'organization_id' | 'email' | 'document'>;

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
        remember.run(hashOfAddress(address), formatInstant(at));
        const present = members(address);
        for (const { organization_id: organizationId } of present) shrink.run(organizationId);
        blank(address);
        return present.length + past(address).length;
      });
    },
    forgottenPeople: () => hashes.all(),
    mayKeep: text => mayKeep(new Set(hashes.all()), text),
    keeps: () => {
      const forgotten = new Set(hashes.all());
      return email => typeof email !== 'string' || !isForgotten(forgotten, email);
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

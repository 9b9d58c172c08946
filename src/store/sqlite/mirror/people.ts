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

type Member = Tables['members_history'];

export function createPeople(db: Sqlite): People {
  const remember = db.prepare<[string, string]>(
    'INSERT INTO forgotten_people VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const hashes = db.prepare<[], string>('SELECT email_sha256 FROM forgotten_people').pluck();
  const shrink = db.prepare<[string]>(
    "UPDATE resource_states SET rows = rows - 1 WHERE organization_id = ? AND resource = 'members'",
  );
  const remove = removerOf(db);
  const blank = blankerOf(db);

  return {
    forget: (email, at) => {
      const address = normalAddress(email);
      db.pragma('secure_delete = ON');
      return write(db, () => {
        remember.run(hashOfAddress(address), formatInstant(at));
        const removed = remove(address);
        for (const { organization_id: organizationId, valid_to: end } of removed)
          if (end === null) shrink.run(organizationId);
        blank(address);
        return removed.length;
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

/** Removes what names an address, past or present, and answers it. What stood before it is gone with it. Inside a transaction. */
function removerOf(db: Sqlite): (address: string) => Member[] {
  const all = db.prepare<[], Member>('SELECT * FROM members_history');
  const removals = [
    'DELETE FROM members WHERE version = ?',
    'DELETE FROM past WHERE version = ?',
    'UPDATE past SET is_removed = 1 WHERE closed_version = ?',
  ].map(text => db.prepare<[number]>(text));
  return address => {
    const found = all.all().filter(member => isOf(member, address));
    for (const { version } of found) for (const removal of removals) removal.run(version);
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

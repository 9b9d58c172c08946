import { createHash } from 'node:crypto';
import { type Sqlite, write } from '../database/open.js';
import { formatInstant } from './columns.js';

/** People who asked to be forgotten stay forgotten: a hash of the address keeps them out of later reads. */
export interface People {
  /** Removes a person from members and their history; answers how many rows went. */
  forget(email: string, at: number): number;
  /** Answers a test that is false for a member who is to stay forgotten. */
  admits(): (item: object) => boolean;
  /** Whether a text names none of them. */
  mayKeep(text: string): boolean;
}

/** What may be an address in the text of a JSON object. */
const ADDRESS = /[^\s"\\<>()[\]{},;:]+@[^\s"\\<>()[\]{},;:]+/g;

export function createPeople(db: Sqlite): People {
  const remember = db.prepare<[string, string]>(
    'INSERT INTO forgotten_people VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const hashes = db.prepare<[], string>('SELECT email_sha256 FROM forgotten_people').pluck();
  const shrink = db.prepare<[string]>(
    `UPDATE resource_states SET rows = rows - (
       SELECT count(*) FROM members
       WHERE members.organization_id = resource_states.organization_id AND lower(email) = ?
     ) WHERE resource = 'members'`,
  );
  const blank = db.prepare<[string]>(
    'UPDATE resource_states SET answer_text = NULL WHERE instr(lower(answer_text), ?) > 0',
  );
  const remove = db.prepare<[string]>('DELETE FROM members WHERE lower(email) = ?');
  const removePast = db.prepare<[string]>('DELETE FROM members_past WHERE lower(email) = ?');
  return {
    forget: (email, at) => {
      const address = email.trim().toLowerCase();
      db.pragma('secure_delete = ON');
      return write(db, () => {
        remember.run(hashOf(address), formatInstant(at));
        shrink.run(address);
        blank.run(address);
        return remove.run(address).changes + removePast.run(address).changes;
      });
    },
    admits: () => {
      const forgotten = new Set(hashes.all());
      if (forgotten.size === 0) return () => true;
      return item => {
        const email = 'email' in item && typeof item.email === 'string' ? item.email : null;
        return email === null || !forgotten.has(hashOf(email.trim().toLowerCase()));
      };
    },
    mayKeep: text => {
      const forgotten = new Set(hashes.all());
      const named = forgotten.size === 0 ? [] : (text.toLowerCase().match(ADDRESS) ?? []);
      return named.every(address => !forgotten.has(hashOf(address)));
    },
  };
}

function hashOf(address: string): string {
  return createHash('sha256').update(address).digest('hex');
}

import { sql } from 'kysely';
import { type StoredToken, TOKEN_SCOPES, type TokenScope, type TokenStore } from '../../inbox/token.js';
import { insertFrom, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';

type NewToken = NowParam & {
  readonly name: string;
  readonly sha256: string;
  readonly scopes: string;
  readonly organizations: string;
  readonly lists: string;
};

const token = tableRef('inbox.tokens');
/** The JSON of `organizations` if the token may read all organizations. */
const ALL_ORGANIZATIONS = 'null';

const INSERT = prepared(({ fn }, params: Params<NewToken>) => {
  const { now, name, sha256, scopes, organizations, lists } = params;
  const insert = insertFrom(
    'inbox.tokens',
    {
      name: fn.cast('text', name),
      token_sha256: fn.cast('text', sha256),
      scopes: fn.cast('json', scopes),
      organizations: fn.cast('json', organizations),
      lists: fn.cast('json', lists),
      created_at: fn.clock(now),
      revoked_at: fn.cast('instant', sql<null>`NULL`),
      last_used_at: fn.cast('instant', sql<null>`NULL`),
    },
    sql`WHERE true ON CONFLICT (name) DO NOTHING`,
  );
  return sqlStatement`${insert} RETURNING ${select({ id: token.id })}`;
});
const LIST = prepared(({ db }) => db.selectFrom('inbox.tokens').selectAll().orderBy('id'));
const FIND = prepared(({ db }, { sha256 }: Params<{ readonly sha256: string }>) =>
  db
    .selectFrom('inbox.tokens')
    .selectAll()
    .where('token_sha256', '=', sha256)
    .where('revoked_at', 'is', null),
);
const REVOKE = prepared(
  ({ fn }, { now, name }: Params<NowParam & { readonly name: string }>) =>
    sqlStatement`UPDATE ${token()} SET ${token.revoked_at} = ${fn.clock(now)}
      WHERE ${token.name} = ${name} AND ${token.revoked_at} IS NULL RETURNING ${select({ id: token.id })}`,
);
const RECORD_USE = prepared(
  ({ fn }, { now, id }: Params<NowParam & { readonly id: number }>) =>
    sqlStatement`UPDATE ${token()} SET ${token.last_used_at} = ${fn.clock(now)} WHERE ${token.id} = ${id}`,
);

/** Creates the store of the API tokens in the inbox. It holds only hashes of tokens. */
export function createTokenStore({ read, commit, now }: InboxDatabase): TokenStore {
  return {
    create: async ({ name, scopes, organizationIds, lists }, sha256) => {
      const [created] = await commit(
        INSERT({
          now: now(),
          name,
          sha256,
          scopes: JSON.stringify(scopes),
          organizations: JSON.stringify(organizationIds),
          lists: JSON.stringify(lists),
        }),
      );
      return created.length > 0;
    },
    list: async () => (await read(LIST()))[0].map(toStoredToken),
    revoke: async name => (await commit(REVOKE({ now: now(), name })))[0].length > 0,
    find: async sha256 => {
      const [[row]] = await read(FIND({ sha256 }));
      return row === undefined ? null : toStoredToken(row);
    },
    recordUse: async ids => {
      const at = now();
      if (ids.length > 0) await commit(...ids.map(id => RECORD_USE({ now: at, id })));
    },
  };
}

function toStoredToken(row: ResultRow<typeof LIST>): StoredToken {
  return {
    id: row.id,
    name: row.name,
    scopes: parseTexts(row.scopes).filter(isScope),
    organizationIds: row.organizations === ALL_ORGANIZATIONS ? null : parseTexts(row.organizations),
    lists: parseTexts(row.lists),
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}

/**
 * Parses a JSON array of texts from the grants of a token. Other JSON becomes an empty array, so that a damaged grant allows
 * nothing.
 */
function parseTexts(json: string): string[] {
  const values: unknown = JSON.parse(json);
  return Array.isArray(values) ? values.filter(value => typeof value === 'string') : [];
}

function isScope(text: string): text is TokenScope {
  return TOKEN_SCOPES.some(scope => scope === text);
}

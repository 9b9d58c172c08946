import type { Request, RequestHandler } from 'express';
import type { Attribution } from './access.js';
import type { Store } from '../store/store.js';
import { versionHeader } from './headers.js';

const KEPT_CALLS = 100_000;

interface CallShape {
  readonly id: number;
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly appId: string | null;
  readonly installationId: string | null;
  readonly tokenId: string | null;
  /** The version header as sent, or null where it was missing. */
  readonly version: string | null;
  readonly status: number;
}

interface CallFilter {
  readonly appId: string | null;
  readonly installationId: string | null;
  readonly limit: number;
}

export interface Calls {
  /** Notes each call just before its answer leaves, so that whoever has the answer finds the note. */
  readonly record: RequestHandler;
  readonly attribute: (req: Request, who: Attribution) => void;
  list(filter: CallFilter): readonly CallShape[];
  countWithoutVersion(): number;
}

const UNKNOWN: Attribution = { appId: '', tokenId: null, installationId: null };

export function createCalls({ db, now }: Store, prefix: string): Calls {
  const callers = new WeakMap<Request, Attribution>();
  const header = versionHeader(prefix);
  const insert = db.prepare<[object]>(
    `insert into calls (at, method, path, app_id, installation_id, token_id, version, status)
     values (@at, @method, @path, nullif(@appId, ''), @installationId, @tokenId, @version, @status)`,
  );
  const prune = db.prepare<[number]>('delete from calls where id <= ?');
  const page = db.prepare<[object], CallShape>(
    `select id, at, method, path, app_id as appId, installation_id as installationId, token_id as tokenId,
            version, status
     from calls
     where (@appId is null or app_id = @appId) and (@installationId is null or installation_id = @installationId)
     order by id desc limit @limit`,
  );
  const withoutVersion = db.prepare<[], number>('select count(*) from calls where version is null').pluck();

  function note(req: Request, path: string, status: number): void {
    const who = callers.get(req) ?? UNKNOWN;
    const version = req.get(header) ?? null;
    const call = { at: now(), method: req.method, path, version, status, ...pickIds(who) };
    const id = Number(insert.run(call).lastInsertRowid);
    if (id % 1000 === 0) prune.run(id - KEPT_CALLS);
  }

  return {
    record(req, res, next) {
      const { path } = req;
      const writeHead = res.writeHead.bind(res);
      Object.assign(res, {
        writeHead(...args: Parameters<typeof writeHead>) {
          note(req, path, args[0]);
          return writeHead(...args);
        },
      });
      next();
    },
    attribute: (req, who) => callers.set(req, who),
    list: filter => page.all(filter),
    countWithoutVersion: () => withoutVersion.get() ?? 0,
  };
}

function pickIds({ appId, tokenId, installationId }: Attribution): Attribution {
  return { appId, tokenId, installationId };
}

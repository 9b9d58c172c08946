import type { RequestHandler } from 'express';
import { found } from '../http/errors.js';
import {
  CALL_FAULTS,
  FAULT_KINDS,
  type FaultKind,
  type FaultOptions,
  readFaultOptions,
  TRANSACTION_FAULTS,
} from './kinds.js';
import { commitFault } from './misbehave.js';
import type { TransactionStatus } from '../store/schema.js';
import type { Store } from '../store/store.js';
import { NOT_EMPTY, oneOf, readFields, refuseFaults } from '../http/validate.js';

interface FaultShape {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly kind: FaultKind;
  readonly options: FaultOptions;
  /** How many more calls it meets; null for every call until it is removed. */
  readonly remaining: number | null;
  readonly hits: number;
}

export interface Faults {
  readonly apply: RequestHandler;
  /** What becomes of a transaction that a POST to this path set going. */
  readonly fateOf: (path: string) => TransactionStatus;
  list(): readonly FaultShape[];
  add(body: unknown): FaultShape;
  remove(id: number): void;
  clear(): void;
}

interface Row {
  id: number;
  method: string;
  path: string;
  kind: string;
  options: string;
  remaining: number | null;
  hits: number;
}

interface Live {
  readonly id: number;
  readonly method: string;
  readonly pattern: RegExp;
  readonly kind: FaultKind;
  readonly options: FaultOptions;
  remaining: number;
  hits: number;
}

/** Scripted trouble. The first one that fits a call and is not used up meets it. */
export function createFaults({ db, write }: Store): Faults {
  const all = db.prepare<[], Row>('select * from faults order by id');
  const find = db.prepare<[number], Row>('select * from faults where id = ?');
  const insert = db.prepare<[object]>(
    `insert into faults (method, path, kind, options, remaining) values (@method, @path, @kind, @options, @remaining)`,
  );
  const remove = db.prepare<[number]>('delete from faults where id = ?');
  const clear = db.prepare('delete from faults');
  const hit = db.prepare<[number]>(
    'update faults set hits = hits + 1, remaining = remaining - 1 where id = ?',
  );
  let live = readLive();

  function readLive(): Live[] {
    return all.all().map(row => ({
      id: row.id,
      method: row.method,
      pattern: toPattern(row.path),
      kind: toKind(row.kind),
      options: JSON.parse(row.options),
      remaining: row.remaining ?? Number.POSITIVE_INFINITY,
      hits: row.hits,
    }));
  }

  function add(body: unknown): FaultShape {
    const faults: string[] = [];
    const fields = readFields(body, faults);
    const row = {
      method: (fields.optionalText('method') ?? '*').toUpperCase(),
      path: fields.optionalText('path', NOT_EMPTY) ?? '/**',
      kind: fields.text('kind', oneOf(FAULT_KINDS)),
      options: JSON.stringify(readFaultOptions(fields.value('options') ?? {}, faults)),
      remaining: fields.has('count') ? fields.count('count', 1) : null,
    };
    refuseFaults(faults);
    const id = write(() => Number(insert.run(row).lastInsertRowid));
    live = readLive();
    return show(found(find.get(id), 'Fault'));
  }

  /** The first that fits and is not used up, as it was before it struck. */
  function strike<Kind extends FaultKind>(kinds: readonly Kind[], method: string, path: string) {
    for (const fault of live) {
      const kind = kinds.find(each => each === fault.kind);
      if (kind === undefined || fault.remaining <= 0 || !fault.pattern.test(path)) continue;
      if (fault.method !== '*' && fault.method !== method) continue;
      const { options, hits } = fault;
      fault.remaining -= 1;
      fault.hits += 1;
      hit.run(fault.id);
      return { kind, options, hits };
    }
    return undefined;
  }

  return {
    apply(req, res, next) {
      const struck = strike(CALL_FAULTS, req.method, req.path);
      if (struck === undefined) next();
      else commitFault(struck, { req, res, next });
    },
    fateOf(path) {
      const struck = strike(TRANSACTION_FAULTS, 'POST', path);
      if (struck === undefined) return 'processed';
      return struck.kind === 'transactionFails' ? 'failed' : 'pending_queue';
    },
    list: () => all.all().map(show),
    add,
    remove(id) {
      found(remove.run(id).changes === 1 ? id : undefined, 'Fault');
      live = readLive();
    },
    clear() {
      clear.run();
      live = [];
    },
  };
}

function show(row: Row): FaultShape {
  return { ...row, kind: toKind(row.kind), options: JSON.parse(row.options) };
}

function toKind(word: string): FaultKind {
  return found(
    FAULT_KINDS.find(kind => kind === word),
    'Kind of fault',
  );
}

/** `*` stands for one segment, `**` for any rest. */
function toPattern(path: string): RegExp {
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  const pattern = escaped.replaceAll(/\*\*|\*/g, stars => (stars === '**' ? '.*' : '[^/]+'));
  return new RegExp(`^${pattern}$`);
}

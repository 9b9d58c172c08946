import type { NextFunction, Request, Response } from 'express';
import { found } from '../http/errors.js';
import {
  CALL_FAULTS,
  FAULT_KINDS,
  type FaultKind,
  type FaultRow,
  readFaultOptions,
  TRANSACTION_FAULTS,
} from './kinds.js';
import { commitFault } from './misbehave.js';
import type { TransactionStatus } from '../store/rows.js';
import type { Store } from '../store/store.js';
import { NOT_EMPTY, oneOf, readBody } from '../http/validate.js';

/** Scripted trouble. The first one that fits a call and is not used up meets it. */
export function createFaults({ tables, verb }: Store) {
  const { faults } = tables;

  const create = verb('add fault', (made: Omit<FaultRow, 'id'>) => {
    const row = { ...made, id: faults.count() + 1 };
    faults.put(row);
    return show(row);
  });

  const remove = verb('remove fault', (id: number) => {
    const row = faults.get(id);
    faults.put({ ...found(row?.isRemoved ? undefined : row, 'Fault'), isRemoved: true });
  });

  const clear = verb('clear faults', () => {
    for (const row of faults.live()) faults.put({ ...row, isRemoved: true });
  });

  const hit = verb('hit', (id: number) => {
    const row = faults.find(id);
    const remaining = row.remaining === null ? null : row.remaining - 1;
    faults.put({ ...row, remaining, hits: row.hits + 1 });
  });

  /** The first that fits and is not used up, as it was before it struck. */
  function strike<Kind extends FaultKind>(kinds: readonly Kind[], method: string, path: string) {
    for (const { id, options, hits, ...fault } of faults.live()) {
      const kind = kinds.find(each => each === fault.kind);
      if (kind === undefined || (fault.remaining ?? 1) <= 0 || !toPattern(fault.path).test(path)) continue;
      if (fault.method !== '*' && fault.method !== method) continue;
      hit(id);
      return { kind, options, hits };
    }
    return undefined;
  }

  return {
    apply: (req: Request, res: Response, next: NextFunction): void => {
      const struck = strike(CALL_FAULTS, req.method, req.path);
      if (struck === undefined) next();
      else commitFault(struck, { req, res, next });
    },
    /** What becomes of a transaction that a POST to this path set going. */
    fateOf: (path: string): TransactionStatus => {
      const struck = strike(TRANSACTION_FAULTS, 'POST', path);
      if (struck === undefined) return 'processed';
      return struck.kind === 'transactionFails' ? 'failed' : 'pending_queue';
    },
    list: () => faults.live().map(show),
    add(body: unknown) {
      const { word, ...made } = readBody(body, (fields, said) => ({
        word: fields.text('kind', oneOf(FAULT_KINDS)),
        method: (fields.optionalText('method') ?? '*').toUpperCase(),
        path: fields.optionalText('path', NOT_EMPTY) ?? '/**',
        options: readFaultOptions(fields.value('options') ?? {}, said),
        remaining: fields.has('count') ? fields.count('count', 1) : null,
      }));
      const kind = found(
        FAULT_KINDS.find(known => known === word),
        'Kind of fault',
      );
      return create({ ...made, kind, hits: 0, isRemoved: false });
    },
    remove,
    clear,
  };
}

function show({ isRemoved: _, ...shown }: FaultRow) {
  return shown;
}

/** `*` stands for one segment, `**` for any rest. */
function toPattern(path: string): RegExp {
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  const pattern = escaped.replaceAll(/\*\*|\*/g, stars => (stars === '**' ? '.*' : '[^/]+'));
  return new RegExp(`^${pattern}$`);
}

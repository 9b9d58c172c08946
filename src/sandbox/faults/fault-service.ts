/**
 * Faults: scripted failures of calls and transactions, which tests and people add through the control API.
 * `fault-kinds.ts` lists the kinds and their options, and `call-faults.ts` applies a fault to a call. A fault is checked
 * when it is added, so that applying it never fails.
 */
import type { NextFunction, Request, Response } from 'express';
import { requireFound } from '../http/api-errors.js';
import {
  CALL_FAULTS,
  FAULT_KINDS,
  type FaultKind,
  type FaultRecord,
  readFaultOptions,
  TRANSACTION_FAULTS,
} from './fault-kinds.js';
import { applyCallFault } from './call-faults.js';
import type { TransactionStatus } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';
import { NOT_EMPTY, oneOf, readBody } from '../http/request-body.js';

/** Creates the service that stores simulated faults and makes matching requests and transactions fail. */
export function createFaultService({ tables, defineOperation }: SandboxStore) {
  const { faults } = tables;

  const create = defineOperation('add fault', (newFault: Omit<FaultRecord, 'id'>) => {
    const row = { ...newFault, id: faults.count() + 1 };
    faults.put(row);
    return toFaultJson(row);
  });

  const remove = defineOperation('remove fault', (id: number) => {
    const row = faults.get(id);
    faults.put({ ...requireFound(row?.isRemoved ? undefined : row, 'Fault'), isRemoved: true });
  });

  const clear = defineOperation('clear faults', () => {
    for (const row of faults.listLive()) faults.put({ ...row, isRemoved: true });
  });

  const countHit = defineOperation('hit', (id: number) => {
    const row = faults.getOrThrow(id);
    const remaining = row.remaining === null ? null : row.remaining - 1;
    faults.put({ ...row, remaining, hits: row.hits + 1 });
  });

  /**
   * Returns the oldest simulated fault of these kinds that matches a request, and counts one use of the fault. Returns undefined
   * if there is none.
   */
  function takeMatchingFault<Kind extends FaultKind>(kinds: readonly Kind[], method: string, path: string) {
    for (const { id, options, hits, ...fault } of faults.listLive()) {
      const kind = kinds.find(name => name === fault.kind);
      const isUsedUp = fault.remaining !== null && fault.remaining <= 0;
      const matchesMethod = fault.method === '*' || fault.method === method;
      if (kind === undefined || isUsedUp || !matchesMethod || !compilePathPattern(fault.path).test(path))
        continue;
      countHit(id);
      return { kind, options, hits };
    }
    return undefined;
  }

  return {
    /** Express middleware that applies the first fault that matches the request. */
    applyToCall: (req: Request, res: Response, next: NextFunction): void => {
      const fault = takeMatchingFault(CALL_FAULTS, req.method, req.path);
      if (fault === undefined) next();
      else applyCallFault(fault, { req, res, next });
    },
    /**
     * Returns the status of a transaction that a POST request to this path starts: `processed` unless a fault matches.
     */
    chooseTransactionStatus: (path: string): TransactionStatus => {
      const fault = takeMatchingFault(TRANSACTION_FAULTS, 'POST', path);
      if (fault === undefined) return 'processed';
      return fault.kind === 'transactionFails' ? 'failed' : 'pending_queue';
    },
    list: () => faults.listLive().map(toFaultJson),
    /** Adds the simulated fault that a request body describes. Throws a 400 error if the fault is invalid. */
    add(body: unknown) {
      const { kindName, ...newFault } = readBody(body, (fields, problems) => ({
        kindName: fields.text('kind', oneOf(FAULT_KINDS)),
        method: (fields.optionalText('method') ?? '*').toUpperCase(),
        path: fields.optionalText('path', NOT_EMPTY) ?? '/**',
        options: readFaultOptions(fields.value('options') ?? {}, problems),
        remaining: fields.has('count') ? fields.wholeNumber('count', 1) : null,
      }));
      const kind = requireFound(
        FAULT_KINDS.find(name => name === kindName),
        'Kind of fault',
      );
      return create({ ...newFault, kind, hits: 0, isRemoved: false });
    },
    remove,
    clear,
  };
}

/** Converts a fault to the JSON of the control API. */
function toFaultJson({ isRemoved: _, ...shown }: FaultRecord) {
  return shown;
}

/** Compiles a path pattern to a regular expression. `*` matches one path segment, and `**` matches any text. */
function compilePathPattern(path: string): RegExp {
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
  const pattern = escaped.replaceAll(/\*\*|\*/g, stars => (stars === '**' ? '.*' : '[^/]+'));
  return new RegExp(`^${pattern}$`);
}

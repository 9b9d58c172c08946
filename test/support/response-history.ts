import { hash } from 'node:crypto';
import { MIRRORED } from './compare.js';
import type { Program } from './program.js';

interface Answer {
  at: number;
  readonly documents: ReadonlySet<string>;
}

interface Version {
  readonly document: string;
  readonly valid_from: string;
}

interface Closing {
  readonly organization_id: string;
  readonly document: string;
  readonly valid_to: string;
}

/** What the registry has said by when, by the clock that everybody reads. */
export interface ResponseHistory {
  record(path: string, body: Buffer): void;
  /** Whatever was said before has been said by then. */
  recordClockSetBack(): void;
  /** What the history dates before the registry had said so. */
  findDatedTooEarly(program: Program): Promise<string[]>;
}

/** What each version shows: an object as it was sent, or the hash of a whole file. */
const VERSIONS = new Map<string, string>([
  ...MIRRORED.map(table => [table, `SELECT document, valid_from FROM ${table}_history`] as const),
  ['certificates', "SELECT sha256 AS document, valid_from FROM certificates_history WHERE state = 'stored'"],
]);

/** Lists whose whole truth stands in one answer. */
const WHOLE = { warehouse_credits: 'warehouse/inventory', inventory_credits: 'inventory' };

export function createResponseHistory(now: () => number): ResponseHistory {
  const said = new Map<string, Answer>();
  const answers = new Map<string, Answer[]>();

  function isSaidBy(document: string, at: number): boolean {
    return (said.get(document)?.at ?? Infinity) <= at;
  }

  /** Whether an answer without the row, after one with it, had been given. */
  function isGoneBy({ organization_id, document, valid_to }: Closing, list: string): boolean {
    const given = answers.get(`/organizations/${organization_id}/${list}`) ?? [];
    const first = given.findIndex(({ documents }) => documents.has(document));
    return given
      .slice(first)
      .some(({ at, documents }) => at <= Date.parse(valid_to) && !documents.has(document));
  }

  return {
    record(path, body) {
      const documents = new Set([hash('sha256', body)]);
      gather(parse(body), documents);
      const answer = { at: now(), documents };
      for (const document of documents) if (!said.has(document)) said.set(document, answer);
      answers.set(path, [...(answers.get(path) ?? []), answer]);
    },
    recordClockSetBack() {
      const at = now();
      for (const answer of [...answers.values()].flat()) answer.at = Math.min(answer.at, at);
    },
    async findDatedTooEarly(program) {
      const early: string[] = [];
      for (const [table, versions] of VERSIONS) {
        const rows = await program.rows<Version>(versions);
        early.push(
          ...rows
            .filter(({ document, valid_from }) => !isSaidBy(document, Date.parse(valid_from)))
            .map(({ document, valid_from }) => `${table} from ${valid_from}: ${document}`),
        );
      }
      for (const [table, list] of Object.entries(WHOLE)) {
        const rows = await program.rows<Closing>(CLOSED.replaceAll('@table', table));
        early.push(
          ...rows
            .filter(closing => !isGoneBy(closing, list))
            .map(({ document, valid_to }) => `${table} to ${valid_to}: ${document}`),
        );
      }
      return early;
    },
  };
}

const CLOSED = `SELECT organization_id, document, valid_to FROM @table_history AS past
  WHERE valid_to IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM @table_history AS next
    WHERE (next.organization_id, next.credit_id, next.inventory_id, next.valid_from)
      = (past.organization_id, past.credit_id, past.inventory_id, past.valid_to)
  )`;

/** A certificate is no JSON, and holds no object. */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** Every object in an answer, as it was sent. */
function gather(value: unknown, documents: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) documents.add(JSON.stringify(value));
  for (const part of Object.values(value)) gather(part, documents);
}

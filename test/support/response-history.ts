import { hash } from 'node:crypto';
import { MIRRORED_TABLES } from './compare.js';
import type { Program } from './program.js';

interface RecordedAnswer {
  at: number;
  readonly documents: ReadonlySet<string>;
}

interface DatedVersion {
  readonly document: string;
  readonly valid_from: string;
}

interface ClosedRow {
  readonly organization_id: string;
  readonly document: string;
  readonly valid_to: string;
}

/** Records which objects the registry had sent by which instant. */
export interface ResponseHistory {
  record(path: string, body: Buffer): void;
  /** Dates earlier answers to the current time at the latest, after the clock was set back. */
  recordClockSetBack(): void;
  /** Lists changes that the mirror's history dates before the registry had sent them. */
  findDatedTooEarly(program: Program): Promise<string[]>;
}

/** Queries of all versions. A document is an object as it was sent, or the hash of a file. */
const VERSIONS = new Map<string, string>([
  ...MIRRORED_TABLES.map(table => [table, `SELECT document, valid_from FROM ${table}_history`] as const),
  ['certificates', "SELECT sha256 AS document, valid_from FROM certificates_history WHERE state = 'stored'"],
]);

/** Lists that the registry sends in one answer. */
const UNPAGED_LISTS = { warehouse_credits: 'warehouse/inventory', inventory_credits: 'inventory' };

export function createResponseHistory(now: () => number): ResponseHistory {
  const firstAnswers = new Map<string, RecordedAnswer>();
  const answers = new Map<string, RecordedAnswer[]>();

  function wasSentBy(document: string, at: number): boolean {
    return (firstAnswers.get(document)?.at ?? Infinity) <= at;
  }

  /** Returns whether, by the end of the version, an answer without the row had followed one with it. */
  function wasMissingBy({ organization_id, document, valid_to }: ClosedRow, list: string): boolean {
    const listAnswers = answers.get(`/organizations/${organization_id}/${list}`) ?? [];
    const first = listAnswers.findIndex(({ documents }) => documents.has(document));
    return listAnswers
      .slice(first)
      .some(({ at, documents }) => at <= Date.parse(valid_to) && !documents.has(document));
  }

  return {
    record(path, body) {
      const documents = new Set([hash('sha256', body)]);
      collectObjects(parseBody(body), documents);
      const answer = { at: now(), documents };
      for (const document of documents) if (!firstAnswers.has(document)) firstAnswers.set(document, answer);
      answers.set(path, [...(answers.get(path) ?? []), answer]);
    },
    recordClockSetBack() {
      const at = now();
      for (const answer of [...answers.values()].flat()) answer.at = Math.min(answer.at, at);
    },
    async findDatedTooEarly(program) {
      const datedTooEarly: string[] = [];
      for (const [table, versions] of VERSIONS) {
        const rows = await program.rows<DatedVersion>(versions);
        datedTooEarly.push(
          ...rows
            .filter(({ document, valid_from }) => !wasSentBy(document, Date.parse(valid_from)))
            .map(({ document, valid_from }) => `${table} from ${valid_from}: ${document}`),
        );
      }
      for (const [table, list] of Object.entries(UNPAGED_LISTS)) {
        const rows = await program.rows<ClosedRow>(CLOSED_ROWS.replaceAll('@table', table));
        datedTooEarly.push(
          ...rows
            .filter(closing => !wasMissingBy(closing, list))
            .map(({ document, valid_to }) => `${table} to ${valid_to}: ${document}`),
        );
      }
      return datedTooEarly;
    },
  };
}

const CLOSED_ROWS = `SELECT organization_id, document, valid_to FROM @table_history AS past
  WHERE valid_to IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM @table_history AS next
    WHERE (next.organization_id, next.credit_id, next.inventory_id, next.valid_from)
      = (past.organization_id, past.credit_id, past.inventory_id, past.valid_to)
  )`;

/** Parses a body; returns null for certificates, which are not JSON. */
function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** Collects every object of an answer, as it was sent. */
function collectObjects(value: unknown, documents: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) documents.add(JSON.stringify(value));
  for (const part of Object.values(value)) collectObjects(part, documents);
}

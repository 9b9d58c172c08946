import { type ClientBase, Pool, types } from 'pg';
import type { Value } from '../contract/tables.js';

export type { Pool } from 'pg';

export interface PoolOptions {
  readonly url: string;
  /** As `pg_stat_activity` shows it. */
  readonly name: string;
  readonly connections: number;
  /** Told of a connection that breaks while nobody waits for an answer: of the first, until one is made again. */
  readonly onFault: (error: Error) => void;
}

const CONNECT_MS = 10_000;
const INT8 = 20;
const TIMESTAMPTZ = 1184;
/** No column of ours is one, but sums of 64-bit integers are. */
const NUMERIC = 1700;

/** The driver of PostgreSQL, loaded here and nowhere else. Connections are made when they are needed. */
export function createPool({ url, name, connections, onFault }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: withLibpqMeaning(url),
    application_name: name,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    pipeline: true,
    onConnect: setIsoDates,
    types: { getTypeParser: (oid, format) => PARSERS[oid] ?? types.getTypeParser(oid, format) },
  });
  // One that broke under a statement has told whoever waits for it.
  let isTold = false;
  pool.on('error', error => {
    if (!isTold) onFault(error);
    isTold = true;
  });
  pool.on('connect', client => {
    isTold = false;
    client.on('error', () => undefined);
  });
  return pool;
}

/** Nobody is given the connection before. Poolers keep this setting for whoever made it. */
function setIsoDates(client: ClientBase): unknown {
  return client.query("SET DateStyle = 'ISO'");
}

/** `sslmode` as libpq has it. Without one a server beyond this machine is talked to encrypted, whoever it is. */
export function withLibpqMeaning(text: string): string {
  const url = new URL(text.replace('@/', '@localhost/'));
  const { searchParams } = url;
  const host = searchParams.get('host') ?? url.hostname;
  if (!searchParams.has('sslmode')) searchParams.set('sslmode', isLocalHost(host) ? 'disable' : 'require');
  searchParams.set('uselibpqcompat', 'true');
  return url.href;
}

function isLocalHost(host: string): boolean {
  return host === '' || host === 'localhost' || host === '[::1]' || /^(127(\.\d+){3}$|\/|%2f)/i.test(host);
}

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [INT8]: parseInteger,
  [NUMERIC]: text => (/^-?\d+$/.test(text) ? parseInteger(text) : Number(text)),
  [TIMESTAMPTZ]: instantOf,
};

const WHOLE = [20, 21, 23, 26];
const FLOAT = [700, 701];
const BOOLEAN = 16;
const BYTES = 17;

/** How a cell is read that anybody may have asked for: what SQLite has no type for is text as the server writes it. */
export function cellOf(oid: number): (text: string) => Value {
  if (WHOLE.includes(oid)) return BigInt;
  if (FLOAT.includes(oid)) return text => (Number.isFinite(Number(text)) ? Number(text) : text);
  if (oid === NUMERIC) return parseNumeric;
  if (oid === BOOLEAN) return text => (text === 't' ? 1n : 0n);
  if (oid === BYTES) return text => Buffer.from(text.slice(2), 'hex');
  if (oid === TIMESTAMPTZ) return text => (ISO_DATE_STYLE.test(text) ? instantOf(text) : text);
  return text => text;
}

/** A number where it keeps every digit. */
function parseNumeric(text: string): Value {
  if (/^-?\d+$/.test(text)) return BigInt(text);
  const number = Number(text);
  const isKept = Number.isFinite(number) && extractDigits(number.toExponential()) === extractDigits(text);
  return isKept ? number : text;
}

/** Those that tell one value from another of its size. */
function extractDigits(text: string): string {
  return text.replace(/e.*/, '').replace('.', '').replace(/^-?0*/, '').replace(/0*$/, '');
}

function parseInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

const UTC_INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/;
const ISO_DATE_STYLE = /^\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d){0,2}( BC)?$/;

/** `YYYY-MM-DDTHH:MM:SS.sssZ`, whatever the time zone of the connection. */
export function instantOf(text: string): string {
  const [, day, time, rest = ''] = UTC_INSTANT.exec(text) ?? [];
  if (day !== undefined) return `${day}T${time}.${rest.padEnd(3, '0')}Z`;
  const date: unknown = ISO_DATE_STYLE.test(text) ? types.getTypeParser(TIMESTAMPTZ, 'text')(text) : null;
  if (date instanceof Date) return date.toISOString();
  throw new Error(`expected an instant in the DateStyle ISO, got "${text}"`);
}

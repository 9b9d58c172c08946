import { type ClientBase, Pool, types } from 'pg';
import type { Value } from '../contract/tables.js';

export type { Pool } from 'pg';

/** The server and the connections of a pool. */
export interface PoolOptions {
  readonly url: string;
  /** The application name in `pg_stat_activity`. */
  readonly name: string;
  readonly connections: number;
  /** Called when an idle connection breaks, but only once until the pool connects again. */
  readonly onFault: (error: Error) => void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const INT8 = 20;
const TIMESTAMPTZ = 1184;
/** Sums of 64-bit integers have this type. */
const NUMERIC = 1700;

/**
 * Creates a pool of connections to a PostgreSQL server. Connects when the first query is sent. No other module loads the driver
 * `pg`.
 */
export function createPool({ url, name, connections, onFault }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: toLibpqUrl(url),
    application_name: name,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    pipeline: true,
    onConnect: setIsoDates,
    types: { getTypeParser: (oid, format) => PARSERS[oid] ?? types.getTypeParser(oid, format) },
  });
  // A connection that breaks during a statement rejects that statement, so it is not reported here.
  let isReported = false;
  pool.on('error', error => {
    if (!isReported) onFault(error);
    isReported = true;
  });
  pool.on('connect', client => {
    isReported = false;
    client.on('error', () => undefined);
  });
  return pool;
}

/** Sets the date format before a connection is used. Connection poolers keep this setting for the client. */
function setIsoDates(client: ClientBase): unknown {
  return client.query("SET DateStyle = 'ISO'");
}

/**
 * Returns the URL with options that give `sslmode` the meaning it has in libpq, the C client of PostgreSQL. Without `sslmode`,
 * connections to other machines are encrypted, but the server's certificate is not verified.
 */
export function toLibpqUrl(text: string): string {
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
  [TIMESTAMPTZ]: parseInstant,
};

const INTEGER_TYPES = [20, 21, 23, 26];
const FLOAT_TYPES = [700, 701];
const BOOLEAN = 16;
const BYTES = 17;

/**
 * Returns the parser for result cells of a PostgreSQL type, which is given by its `oid`. Cells of types that SQLite does not have
 * stay text.
 */
export function getCellParser(oid: number): (text: string) => Value {
  if (INTEGER_TYPES.includes(oid)) return BigInt;
  if (FLOAT_TYPES.includes(oid)) return text => (Number.isFinite(Number(text)) ? Number(text) : text);
  if (oid === NUMERIC) return parseNumeric;
  if (oid === BOOLEAN) return text => (text === 't' ? 1n : 0n);
  if (oid === BYTES) return text => Buffer.from(text.slice(2), 'hex');
  if (oid === TIMESTAMPTZ) return text => (ISO_DATE_STYLE.test(text) ? parseInstant(text) : text);
  return text => text;
}

/** Parses a decimal number. Returns a bigint for an integer, and the text if a JavaScript number would lose digits. */
function parseNumeric(text: string): Value {
  if (/^-?\d+$/.test(text)) return BigInt(text);
  const number = Number(text);
  const isExact = Number.isFinite(number) && extractDigits(number.toExponential()) === extractDigits(text);
  return isExact ? number : text;
}

/** Returns the significant digits of a number. */
function extractDigits(text: string): string {
  return text.replace(/e.*/, '').replace('.', '').replace(/^-?0*/, '').replace(/0*$/, '');
}

/** Parses an integer. Returns a bigint if a JavaScript number cannot hold it exactly. */
function parseInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

const UTC_INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3}))?\+00$/;
/** An instant as PostgreSQL prints it with the DateStyle ISO. */
const ISO_DATE_STYLE = /^\d{4,}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d){0,2}( BC)?$/;

/** Converts a `timestamptz` text from PostgreSQL to `YYYY-MM-DDTHH:MM:SS.sssZ`, whatever the time zone of the connection. */
export function parseInstant(text: string): string {
  const [, day, time, rest = ''] = UTC_INSTANT.exec(text) ?? [];
  if (day !== undefined) return `${day}T${time}.${rest.padEnd(3, '0')}Z`;
  const date: unknown = ISO_DATE_STYLE.test(text) ? types.getTypeParser(TIMESTAMPTZ, 'text')(text) : null;
  if (date instanceof Date) return date.toISOString();
  throw new Error(`expected an instant in the DateStyle ISO, got "${text}"`);
}

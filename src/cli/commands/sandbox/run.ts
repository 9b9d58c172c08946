import { readFileSync } from 'node:fs';
import type { ControlClient } from '../../../sandbox/control/client.js';
import type { Field, Kind, Verb } from './verbs/verb.js';
import { CommandFault, EXIT } from '../../exit.js';
import { type Io, print, say } from '../../io.js';
import { sheet } from '../../shown/sheet.js';
import { type Cell, type Row, writeRows, writeValue } from '../../output/output.js';
import { build, flatten, valueAt } from '../../paths.js';
import { isObject } from '../../../registry/model.js';
import { itemsOf, readName } from './names.js';
import { snakePath } from '../../snake-case.js';
import { readDuration, readId } from '../../words.js';

/** What was said of a field on the command line. */
type Said = string | readonly string[] | undefined;
export type Spoken = readonly (readonly [Field, Said])[];

export async function runVerb(verb: Verb, spoken: Spoken, call: ControlClient): Promise<unknown> {
  const given: Record<string, unknown> = {};
  for (const [field, said] of spoken) {
    if (said !== undefined && said.length > 0) given[field.into] = await readValue(field, said, call);
  }
  const [method = 'GET', route = ''] = verb.route.split(' ');
  const { path, rest } = fillPath(route, given);
  if (method === 'GET' || method === 'DELETE') return await call(method, withQuery(path, rest));
  const body = verb.body === undefined ? rest : verb.body(rest);
  return await call(method, path, build({ ...body }));
}

export async function showAnswer(io: Io, verb: Verb, answer: unknown, json: boolean): Promise<void> {
  if (json) await writeValue(io, verb.list === undefined ? answer : itemsOf(answer, verb.list));
  else if (verb.list !== undefined) await showList(io, verb, itemsOf(answer, verb.list));
  else if (!isObject(answer) || Object.keys(answer).length === 0) say(io, 'Done.');
  else await print(io, ...sheet(toRow(answer, verb.columns ?? Object.keys(flatten(answer)))).slice(0, -1));
  if (verb.next !== undefined && !json) say(io, ...verb.next.map(line => fillWords(line, answer)));
}

/** `{id}` becomes a value of the answer, `{id|none}` the words for none. */
function fillWords(line: string, answer: unknown): string {
  return line.replace(/\{(\w+)(?:\|([^}]*))?\}/g, (_whole, name: string, none = '') =>
    String(valueAt(answer, name) ?? none),
  );
}

async function showList(io: Io, { columns = [] }: Verb, items: readonly unknown[]): Promise<void> {
  await writeRows(
    io,
    'table',
    columns.map(snakePath),
    items.map(item => toRow(item, columns)),
  );
}

function toRow(item: unknown, columns: readonly string[]): Row {
  const shown = columns.filter(name => valueAt(item, name) !== undefined);
  return Object.fromEntries(shown.map(name => [snakePath(name), toCell(valueAt(item, name))]));
}

/** Permissions and attempts are read by people; anything else that is no text or number is shown as JSON. */
function toCell(value: unknown): Cell {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (Array.isArray(value))
    return value.length === 0 ? null : value.map(each => String(toCell(each))).join(', ');
  if (!isObject(value)) return null;
  if ('startedAt' in value) return String(value['status'] ?? value['error']);
  return Object.entries(value)
    .map(([name, inner]) => `${name} ${typeof inner === 'string' ? inner : JSON.stringify(inner)}`)
    .join(', ');
}

type Reader = (field: Field, text: string, call: ControlClient) => unknown;

const asText: Reader = (_field, text) => text;
const asId: Reader = (field, text, call) => readName(call, field.kind ?? '', text);

const READERS: Readonly<Record<Kind, Reader>> = {
  text: asText,
  texts: asText,
  number: readNumber,
  numbers: readNumber,
  'yes or no': readYesOrNo,
  duration: (field, text) => readDuration(field.flags, text),
  file: readText,
  json: readJson,
  app: asId,
  organization: asId,
  project: asId,
  installation: asId,
};

async function readValue(
  field: Field,
  said: string | readonly string[],
  call: ControlClient,
): Promise<unknown> {
  const read = READERS[field.kind ?? 'text'];
  if (typeof said === 'string') return await read(field, said, call);
  return await Promise.all(said.map(async text => await read(field, text, call)));
}

function readYesOrNo(field: Field, text: string): boolean {
  if (/^(yes|no|true|false)$/.test(text)) return text === 'yes' || text === 'true';
  throw unusable(field, 'yes or no', text);
}

function readNumber(field: Field, text: string): number {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw unusable(field, 'a number', text);
}

function readText(field: Field, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new CommandFault(EXIT.usage, `${field.flags}: ${file} cannot be read${code}.`);
  }
}

function readJson(field: Field, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unusable(field, 'JSON', text);
  }
}

function unusable(field: Field, expected: string, text: string): CommandFault {
  return new CommandFault(EXIT.usage, `${field.flags}: expected ${expected}, got "${text}".`);
}

interface Filled {
  readonly path: string;
  readonly rest: Readonly<Record<string, unknown>>;
}

function fillPath(route: string, given: Readonly<Record<string, unknown>>): Filled {
  const rest = { ...given };
  const path = route.replace(/:(\w+)/g, (_whole, name: string) => {
    const said = String(rest[name]);
    delete rest[name];
    return readId(name, said);
  });
  return { path, rest };
}

function withQuery(path: string, values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams(
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])),
  );
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

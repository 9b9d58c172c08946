// Gives random and mutated registry answers to the code that parses them. Each must be parsed or refused with a RegistryError.
import {
  createDice,
  damageBytes,
  growthAfter,
  measureHeapMb,
  mutateJson,
  randomJson,
  stackOf,
} from './fuzz-random.js';

/** @import { SourceObject } from '../../dist/src/registry/json/json-object.js' */
/** @import { Dice } from './fuzz-random.js' */
/** @typedef {keyof typeof SAMPLES} Kind a kind of object in an answer, with the name that its parser has */
/** @typedef {{ name: string, make: (dice: Dice) => Buffer, read: (bytes: Buffer, dice: Dice) => unknown }} Reader */
/**
 * Modules of the program that parse answers.
 * @typedef {typeof import('../../dist/src/registry/json/parse-objects.js')
 *   & typeof import('../../dist/src/registry/pages/single-response.js')
 *   & typeof import('../../dist/src/registry/json/json-object.js')
 *   & typeof import('../../dist/src/registry/json/array-splitter.js')
 *   & typeof import('../../dist/src/registry/pages/pagination.js')
 *   & typeof import('../../dist/src/registry/pages/list-owner.js')
 *   & typeof import('../../dist/src/registry/json/json-text.js')
 *   & typeof import('../../dist/src/registry/http/response-headers.js')} Code
 */

const ORGANIZATION = 'd1d0f0a2-0000-4000-8000-000000000001';
const project = { id: 'project-1', fullName: 'Peat bog' };
const credit = {
  creditId: 'credit-1',
  amount: 12.5,
  serialization: 'ICR-ISL-354-1-14-R-0-2021',
  vintage: '2021',
  type: 'exPost',
  organizationId: ORGANIZATION,
  project,
};
const dates = { createdAt: '2026-03-01T10:00:00Z', updatedAt: '2026-03-01T10:00:00.123Z' };
const organization = {
  id: ORGANIZATION,
  fullName: 'Harbour Ferries',
  isPublic: true,
  countryCode: 'IS',
  ...dates,
};
const permissions = { organization_info: 'VIEW', organization_warehouse: 'WRITE' };
export const SAMPLES = {
  Organization: organization,
  Installation: { id: 'installation-1', appId: 'app-1', organization, permissions, ...dates },
  User: { id: 'user-1', email: 'ada@example.org', fullName: 'Ada' },
  Credit: credit,
  Reservation: { id: 'r-1', ...credit, reserver: { id: 'app-1', name: 'App' }, state: 'pending', ...dates },
  InventoryRequest: {
    id: 'q-1',
    ...credit,
    action: 'retire',
    retirementData: { reason: 'for good' },
    ...dates,
  },
  Retirement: {
    id: 't-1',
    ...credit,
    beneficiary: 'Ada',
    isClaimed: true,
    organizationOwner: organization,
    ...dates,
  },
  Project: { ...project, status: { id: 1, title: 'validated' }, sector: 'forest', type: { id: 'x' }, num: 7 },
  Address: { id: 'a-1', address: '0x00', name: 'main', isDefault: true },
  Member: { id: 'm-1', fullName: 'Ada', email: 'ada@example.org' },
};
/** @type {readonly Kind[]} */
const KINDS = [
  'Organization',
  'Installation',
  'User',
  'Credit',
  'Reservation',
  'InventoryRequest',
  'Retirement',
  'Project',
  'Address',
  'Member',
];
const TOKENS = [
  { token: 'abc', expiresAt: '2026-05-04T12:00:00.000Z', permissions, organizationId: ORGANIZATION },
  { accessToken: 'abc', expiresIn: 3600 },
];

/** @param {import("./fuzz.js").Fuzzing} fuzzing */
export async function fuzzAnswers({ count, seed, program }) {
  /** @param {string} name */
  const from = name => import(new URL(`src/registry/${name}.js`, program).href);
  const readers = createReaders(
    Object.assign(
      {},
      ...(await Promise.all(
        [
          'json/parse-objects',
          'pages/single-response',
          'json/json-object',
          'json/array-splitter',
          'pages/pagination',
          'pages/list-owner',
          'json/json-text',
          'http/response-headers',
        ].map(from),
      )),
    ),
  );
  const dice = createDice(seed);
  /** @type {{ read: number, refused: number, faults: string[], sizes: number[] }} */
  const tally = { read: 0, refused: 0, faults: [], sizes: [] };
  for (let round = 0; round < count; round += 1) {
    const reader = dice.pick(readers);
    const bytes = reader.make(dice);
    try {
      reader.read(bytes, dice);
      tally.read += 1;
    } catch (error) {
      if (error instanceof Error && error.name === 'RegistryError') tally.refused += 1;
      else tally.faults.push(`answer ${round} at ${reader.name}: ${stackOf(error)}\n${shorten(bytes)}`);
    }
    if (tally.faults.length >= 5) break;
    if (round % Math.ceil(count / 5) === 0) tally.sizes.push(measureHeapMb());
  }
  tally.sizes.push(measureHeapMb());
  if (Object.getOwnPropertyNames(Object.prototype).length !== PROTOTYPE)
    tally.faults.push('the prototype was changed');
  return { ...tally, growth: growthAfter(tally.sizes, 1), unit: 'MB of heap after collection' };
}

const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype).length;

/**
 * @param {Code} code
 * @returns {Reader[]}
 */
function createReaders(code) {
  /** @type {Reader[]} */
  const ones = KINDS.map(kind => ({
    name: `parse${kind}`,
    make: dice => maybeDamage(dice, oneOf(dice, SAMPLES[kind], kind)),
    read: bytes =>
      code[`parse${kind}`](
        code.parseWrappedObject(code.decodeBody({ status: 200, body: bytes }), kind.toLowerCase()),
      ),
  }));
  /** @type {Reader[]} */
  const lists = KINDS.map(kind => ({
    name: `list of ${kind}`,
    make: dice => maybeDamage(dice, listOf(dice, SAMPLES[kind])),
    read: bytes => {
      /** @type {(source: SourceObject) => object} */
      const parse = code[`parse${kind}`];
      const { envelope } = code.parseShortList({ status: 200, body: bytes }, 'items', parse);
      code.getPagination(envelope);
      code.checkListOwner(envelope, ORGANIZATION);
    },
  }));
  /** @type {Reader} */
  const streamed = {
    name: 'streaming splitter',
    make: dice => maybeDamage(dice, listOf(dice, dice.pick(Object.values(SAMPLES)))),
    read: (bytes, dice) => {
      const splitter = code.createArraySplitter('items');
      const maxChunkSize = dice.pick([1, 7, 64, 100_000]);
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + dice.below(maxChunkSize);
        for (const text of splitter.push(bytes.subarray(at, at + size)))
          code.parseCredit(code.parseObject(text, 'items'));
        splitter.parseEnvelopeStart();
        at += size;
      }
      code.checkListOwner(splitter.finish(), ORGANIZATION);
    },
  };
  /** @type {Reader} */
  const token = {
    name: 'parseAccessToken',
    make: dice => maybeDamage(dice, mutateJson(dice, dice.pick(TOKENS))),
    read: bytes => code.parseAccessToken(bytes.toString()),
  };
  /** @type {Reader} */
  const headers = {
    name: 'headers',
    make: dice =>
      maybeDamage(dice, dice.pick(['Mon, 04 May 2026 12:00:00 GMT', '120', '-1', '1e9', randomJson(dice)])),
    read: bytes => {
      code.parseHttpDate(bytes.toString('latin1'));
      code.parseRetryAfter(bytes.toString('latin1'), Date.now());
    },
  };
  return [...ones, ...lists, streamed, token, headers];
}

/**
 * @param {Dice} dice
 * @param {object} sample
 * @param {string} kind
 */
function oneOf(dice, sample, kind) {
  const text = mutateJson(dice, sample);
  return dice.chance(0.3) ? `{${JSON.stringify(kind.toLowerCase())}:${text}}` : text;
}

/**
 * @param {Dice} dice
 * @param {object} sample
 */
function listOf(dice, sample) {
  const items = Array.from({ length: dice.below(6) }, () => mutateJson(dice, sample, 0.05)).join(',');
  if (dice.chance(0.1)) return `[${items}]`;
  const around = mutateJson(dice, {
    pagination: { total: 3, page: 1, limit: 100, pages: 1 },
    organizationId: ORGANIZATION,
  });
  return `{"items":[${items}],${around.slice(1, -1) || '"x":0'}}`;
}

/**
 * @param {Dice} dice
 * @param {string} text
 */
function maybeDamage(dice, text) {
  const bytes = Buffer.from(text);
  return dice.chance(0.5) ? damageBytes(dice, bytes) : bytes;
}

/** @param {Buffer} bytes */
function shorten(bytes) {
  return bytes.subarray(0, 1_000).toString('latin1');
}

// Creates random and mutated values from a seed, so that a fault can be reproduced.

/**
 * @typedef {ReturnType<typeof createDice>} Dice
 * @param {number} seed
 */
export function createDice(seed) {
  let state = seed | 0;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  /** @param {number} limit */
  const below = limit => Math.floor(random() * limit);
  /**
   * Returns a random one of at least one value.
   * @template Value
   * @param {readonly Value[]} from
   */
  const pick = from => {
    const next = from.slice(below(from.length)).values().next();
    if (next.done) throw new Error('expected something to pick from');
    return next.value;
  };
  /** @param {number} odds */
  const chance = odds => random() < odds;
  return { random, below, pick, chance };
}

const TEXTS = [
  '',
  ' ',
  '..',
  '../../etc/passwd',
  'a/b',
  '%2e%2e',
  '\0',
  '\u001b[31m',
  '\u202eabc',
  '\ud800',
  '=1+1',
  "'; DROP TABLE deliveries; --",
  '😀'.repeat(40),
  'x'.repeat(3000),
  '__proto__',
  'constructor',
  'undefined',
  'NaN',
  '2026-13-45T99:99:99Z',
  '+275760-09-13T00:00:00.001Z',
  '0001-01-01',
  '2026-05-04T12:00:00.000Z',
];
const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.5',
  '9007199254740993',
  '1e400',
  '-1e-400',
  '1E3',
  '0.000000000000000001',
  `1${'0'.repeat(300)}`,
];
const NAMES = [
  'id',
  '_id',
  'amount',
  'event',
  'organization',
  'type',
  '__proto__',
  'toString',
  '',
  'length',
  'then',
  'a"b',
  'ü',
];

/**
 * Returns random JSON text, which can contain what no JavaScript value can.
 * @param {Dice} dice
 * @param {number} [depth]
 * @returns {string}
 */
export function randomJson(dice, depth = 3) {
  const kind = dice.random();
  if (kind < 0.01) return `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  if (depth > 0 && kind < 0.2) return `[${createMany(dice, 4, () => randomJson(dice, depth - 1))}]`;
  if (depth > 0 && kind < 0.45) {
    return `{${createMany(dice, 5, () => `${JSON.stringify(dice.pick(NAMES))}:${randomJson(dice, depth - 1)}`)}}`;
  }
  if (kind < 0.6) return dice.pick(NUMBERS);
  if (kind < 0.72) return dice.pick(['true', 'false', 'null']);
  return JSON.stringify(dice.pick(TEXTS));
}

/**
 * @param {Dice} dice
 * @param {number} maxCount
 * @param {() => string} make
 */
function createMany(dice, maxCount, make) {
  return Array.from({ length: dice.below(maxCount) }, make).join(',');
}

/**
 * Returns the JSON of an object in which some members, at any depth, were replaced, removed, repeated or added.
 * @param {Dice} dice
 * @param {unknown} value
 * @param {number} [odds]
 * @returns {string}
 */
export function mutateJson(dice, value, odds = 0.15) {
  if (Array.isArray(value)) return `[${value.map(each => mutateJson(dice, each, odds)).join(',')}]`;
  if (typeof value !== 'object' || value === null) {
    return dice.chance(odds) ? randomJson(dice) : JSON.stringify(value);
  }
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (dice.chance(odds / 3)) return [];
    const text = dice.chance(odds / 2) ? randomJson(dice) : mutateJson(dice, member, odds);
    const entry = `${JSON.stringify(name)}:${text}`;
    return dice.chance(odds / 10) ? [entry, entry] : [entry];
  });
  if (dice.chance(odds / 3)) members.push(`${JSON.stringify(dice.pick(NAMES))}:${randomJson(dice)}`);
  return `{${members.join(',')}}`;
}

/**
 * Changes, removes, repeats or inserts some bytes, mostly few.
 * @param {Dice} dice
 * @param {Buffer} bytes
 */
export function damageBytes(dice, bytes) {
  let damaged = Buffer.from(bytes);
  for (let remaining = 1 + dice.below(3); remaining > 0; remaining -= 1) {
    const at = dice.below(damaged.length + 1);
    const kind = dice.below(5);
    if (kind === 0) damaged = damaged.subarray(0, at);
    else if (kind === 1)
      damaged = Buffer.concat([damaged.subarray(0, at), damaged.subarray(at + 1 + dice.below(20))]);
    else if (kind === 2)
      damaged = Buffer.concat([damaged.subarray(0, at), damaged.subarray(at - dice.below(40))]);
    else if (kind === 3)
      damaged = Buffer.concat([
        damaged.subarray(0, at),
        Buffer.from([dice.below(256)]),
        damaged.subarray(at),
      ]);
    else if (at < damaged.length)
      damaged[at] = dice.pick([0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a, 0, 0xff, dice.below(256)]);
  }
  return damaged;
}

/**
 * Returns the stack of an error, or a description of any other thrown value.
 * @param {unknown} thrown
 */
export function stackOf(thrown) {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** Returns the used heap, after a garbage collection if possible. */
export function measureHeapMb() {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
}

/**
 * Returns how much memory grew after one of the first measurements.
 * @param {readonly number[]} sizes
 * @param {number} from
 */
export function growthAfter(sizes, from) {
  return (sizes.at(-1) ?? 0) - (sizes[from] ?? 0);
}

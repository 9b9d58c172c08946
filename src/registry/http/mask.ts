/** What stands where a secret stood. */
const MASK = '[masked]';

/** A shorter text would be found by chance everywhere. */
const MIN_MASKED_CHARACTERS = 8;
/** The lines of a PEM body and the parts of a JWT are masked one by one: a part of a key is a secret too. */
const MIN_PART_CHARACTERS = 32;

/** How tokens, JWTs and PEM blocks begin. */
const BEGINNINGS = ['crs_', 'cru_', 'eyJhbGci', 'eyJ0eXAi', '-----BEGIN'];
/**
 * What gives itself away by its look: tokens, JWTs, PEM blocks, bearer headers and signatures, and what base64 and hex
 * make of the first three. Each takes time in proportion to the text, however that was made up.
 */
const LOOKS = new RegExp(
  [
    /\bcr[su]_\w+|cr[su]_\w{6,}/,
    /eyJ[\w+/=-]{16,}(?:\.[\w+/=-]*)*|\beyJ[\w+/=-]*(?:\.[\w+/=-]+)+/,
    /-----BEGIN [A-Z0-9 ]+-----[^]*?(?:-----END [A-Z0-9 ]+-----|$)/,
    /(?<=\b[Bb](?:earer|EARER)\s{1,9})[^\s"',]+/,
    /sha256=[\da-f]{16,}/,
  ]
    .map(look => look.source)
    .concat(`(?:${BEGINNINGS.flatMap(base64Cores).join('|')})[\\w+/=-]{8,}`)
    .concat(`(?:${BEGINNINGS.flatMap(hexForms).join('|')})[\\da-fA-F]{12,}`)
    .join('|'),
  'g',
);
/** None of these, and nothing has such a look: sought one by one, which is much faster. */
const SIGNS = [
  ...new Set(
    ['crs_', 'cru_', 'eyJ', '-----BEGIN', 'earer', 'EARER', 'sha256='].concat(
      BEGINNINGS.flatMap(base64Cores),
      BEGINNINGS.flatMap(hexForms),
    ),
  ),
];
const SECRET_NAME =
  /(?:authorization|cookie|token|secrets?|password|private[-_]?key|signature(?:-256)?|signed[-_]?data|jwt|pem)$/i;
/** A cheap look at a whole line: most lines hold nothing of the kind and are written as they are. */
const SUSPECT_NAME =
  /(?:authorization|cookie|token|secrets?|password|private[-_]?key|signature(?:-256)?|signed[-_]?data|jwt|pem)":/i;

export interface Mask {
  /** Any text, with what is secret or looks so taken out. */
  readonly text: (text: string) => string;
  /** A line of JSON, its values by name as well. */
  readonly line: (line: string) => string;
  /** Whether one of the secrets stands in it, in whatever form. */
  readonly isIn: (bytes: Buffer) => boolean;
}

/** Any text, with what looks like a secret taken out. */
export function maskSecretLookalikes(text: string): string {
  return hasSign(text) ? text.replace(LOOKS, MASK) : text;
}

function hasSign(text: string): boolean {
  return SIGNS.some(sign => text.includes(sign));
}

/** Knows the given secrets in plain text and as base64, hex, JSON and part of a URL; others by name and by look. */
export function createMask(secrets: readonly string[]): Mask {
  const known = longestFirst(secrets.flatMap(allForms));
  const written = known.map(inJson);

  const text = (plain: string): string =>
    maskSecretLookalikes(
      known.reduce((left, form) => (left.includes(form) ? left.replaceAll(form, MASK) : left), plain),
    );
  const clean = (value: unknown, hidden: boolean): unknown => {
    if (typeof value === 'string') return hidden && value !== '' ? MASK : text(value);
    if (Array.isArray(value)) return value.map(each => clean(each, hidden));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, each]) => [text(name), clean(each, hidden || SECRET_NAME.test(name))]),
    );
  };
  const isSuspect = (json: string): boolean =>
    SUSPECT_NAME.test(json) || hasSign(json) || written.some(form => json.includes(form));
  const line = (json: string): string => {
    if (!isSuspect(json)) return json;
    try {
      return `${JSON.stringify(clean(JSON.parse(json), false))}\n`;
    } catch {
      return `${JSON.stringify({ level: 'error', msg: 'a line that could not be masked was not written' })}\n`;
    }
  };
  return { text, line, isIn: bytes => known.some(form => bytes.includes(form)) };
}

export interface LearningMask extends Pick<Mask, 'text'> {
  /** From now on this is a secret too. */
  learn(secret: string): void;
  /** Whether this secret stands in it, in whatever form. */
  finds(secret: string, bytes: Buffer): boolean;
}

/** So many credentials are in use at once; older ones are known by their look. */
const MAX_LEARNED = 64;

/** Learns secrets as they come into use. What it takes to find one is made out when a text is first masked. */
export function createLearningMask(secrets: readonly string[]): LearningMask {
  const own = createMask(secrets);
  const learned = new Map<string, Mask | null>();

  function maskOf(secret: string, known: Mask | null): Mask {
    const mask = known ?? createMask([secret]);
    learned.set(secret, mask);
    return mask;
  }

  return {
    learn: secret => {
      if (learned.has(secret)) return;
      learned.set(secret, null);
      if (learned.size > MAX_LEARNED) learned.delete([...learned.keys()][0] ?? '');
    },
    finds: (secret, bytes) => maskOf(secret, learned.get(secret) ?? null).isIn(bytes),
    text: text =>
      own.text([...learned].reduce((left, [secret, known]) => maskOf(secret, known).text(left), text)),
  };
}

function allForms(secret: string): string[] {
  const whole = secret.trim();
  if (whole.length < MIN_MASKED_CHARACTERS) return [];
  /** How a JWT begins is no secret: a name that says the same would stand for it. */
  const isSecret = (part: string) => part.length >= MIN_PART_CHARACTERS && !part.startsWith('eyJ');
  const parts = whole.split(/\s|\\n|\./).filter(isSecret);
  return [whole, ...parts].flatMap(formsOf);
}

function formsOf(secret: string): string[] {
  return [
    secret,
    inJson(secret),
    encodeURIComponent(secret),
    new URLSearchParams({ q: secret }).toString().slice(2),
    ...hexForms(secret),
    ...base64Cores(secret),
  ];
}

function hexForms(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  return [hex, hex.toUpperCase()];
}

/** Inside a longer text the same bytes have three base64 forms, by where in a group of three they begin. */
function base64Cores(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap(shift => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const core = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function longestFirst(texts: readonly string[]): string[] {
  return [...new Set(texts)].toSorted((a, b) => b.length - a.length);
}

/** What stands where a secret stood. */
const MASK = '[masked]';

/** A shorter text would be found by chance everywhere. */
const MIN_MASKED_CHARACTERS = 8;
/** The lines of a PEM body are masked one by one: a part of a key is a secret too. */
const MIN_LINE_CHARACTERS = 32;

/** What gives itself away by its look: tokens, JWTs, PEM blocks, bearer headers and signatures. */
const SHAPES =
  /cr[su]_\w{6,}|Y3J[z1]X[\w+/=-]{8,}|eyJ[\w+/=-]{4,}(?:\.[\w+/=-]*)+|-----BEGIN [A-Z0-9 ]+-----[^]*?(?:-----END [A-Z0-9 ]+-----|$)|(?<=\b[Bb]earer\s+)[^\s"',]+|sha256=[\da-f]{16,}/g;
const SECRET_NAME =
  /(?:authorization|cookie|token|secrets?|password|private[-_]?key|signature(?:-256)?|signed[-_]?data|jwt|pem)$/i;
/** A cheap look at a whole line: most lines hold nothing of the kind and are written as they are. */
const SUSPECT =
  /cr[su]_|Y3J[z1]X|eyJ|-----BEGIN|bearer\s|sha256=|(?:authorization|cookie|token|secrets?|password|private[-_]?key|signature(?:-256)?|signed[-_]?data|jwt|pem)":/i;

export interface Mask {
  /** Any text, with what is secret or looks so taken out. */
  readonly text: (text: string) => string;
  /** A line of JSON, its values by name as well. */
  readonly line: (line: string) => string;
}

/** Knows the given secrets in plain text and as base64, hex, JSON and part of a URL; others by name and by look. */
export function createMask(secrets: readonly string[]): Mask {
  const values = unionOf(secrets.flatMap(formsOf), 'g');
  const written = unionOf(secrets.flatMap(formsOf).map(inJson), '');

  const text = (plain: string): string => {
    const known = values === null ? plain : plain.replace(values, MASK);
    return known.replace(SHAPES, MASK);
  };
  const clean = (value: unknown, hidden: boolean): unknown => {
    if (typeof value === 'string') return hidden && value !== '' ? MASK : text(value);
    if (Array.isArray(value)) return value.map(each => clean(each, hidden));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, each]) => [text(name), clean(each, hidden || SECRET_NAME.test(name))]),
    );
  };
  const line = (json: string): string => {
    if (!SUSPECT.test(json) && written?.test(json) !== true) return json;
    try {
      return `${JSON.stringify(clean(JSON.parse(json), false))}\n`;
    } catch {
      return `${JSON.stringify({ level: 'error', msg: 'a line that could not be masked was not written' })}\n`;
    }
  };
  return { text, line };
}

function formsOf(secret: string): string[] {
  const whole = secret.trim();
  if (whole.length < MIN_MASKED_CHARACTERS) return [];
  const isPem = whole.includes('-----BEGIN');
  const lines = isPem ? whole.split(/\s|\\n/).filter(line => line.length >= MIN_LINE_CHARACTERS) : [];
  return [
    whole,
    inJson(whole),
    encodeURIComponent(whole),
    new URLSearchParams({ q: whole }).toString().slice(2),
    Buffer.from(whole).toString('hex'),
    ...lines,
  ].concat(base64Cores(whole));
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

function unionOf(texts: readonly string[], flags: string): RegExp | null {
  const unique = [...new Set(texts)].toSorted((a, b) => b.length - a.length);
  if (unique.length === 0) return null;
  return new RegExp(unique.map(text => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), flags);
}

/**
 * Removes secrets from texts before they reach an error, a log line or a page. A secret is found either because it is
 * given (in all the forms in which it may be repeated) or because it looks like a credential. Nothing that was masked
 * can be recovered from the masked text.
 */

/** The text that replaces every secret. */
const MASK = '[masked]';

/** Shorter secrets are not masked, because they would match by chance everywhere. */
const MIN_MASKED_CHARACTERS = 8;
/**
 * Lines of a PEM body and parts of a JWT that are at least this long are masked on their own, because a part of a key is
 * a secret too.
 */
const MIN_PART_CHARACTERS = 32;

/** The beginnings of tokens, JWTs and PEM blocks. */
const CREDENTIAL_PREFIXES = ['crs_', 'cru_', 'eyJhbGci', 'eyJ0eXAi', '-----BEGIN'];
/**
 * Matches texts that look like a credential: tokens, JWTs, PEM blocks, bearer headers and signatures, and the base64 and
 * hex encodings of the first three. Each alternative takes linear time, even on hostile text.
 */
const CREDENTIAL_PATTERN = new RegExp(
  [
    /\bcr[su]_\w+|cr[su]_\w{6,}/,
    /eyJ[\w+/=-]{16,}(?:\.[\w+/=-]*)*|\beyJ[\w+/=-]*(?:\.[\w+/=-]+)+/,
    /-----BEGIN [A-Z0-9 ]+-----[^]*?(?:-----END [A-Z0-9 ]+-----|$)/,
    /(?<=\b[Bb](?:earer|EARER)\s{1,9})[^\s"',]+/,
    /sha256=[\da-f]{16,}/,
  ]
    .map(pattern => pattern.source)
    .concat(`(?:${CREDENTIAL_PREFIXES.flatMap(encodeBase64Forms).join('|')})[\\w+/=-]{8,}`)
    .concat(`(?:${CREDENTIAL_PREFIXES.flatMap(encodeHexForms).join('|')})[\\da-fA-F]{12,}`)
    .join('|'),
  'g',
);
/** Each match of the pattern contains one of these. Searching for them first is much faster than the pattern. */
const CREDENTIAL_HINTS = [
  ...new Set(
    ['crs_', 'cru_', 'eyJ', '-----BEGIN', 'earer', 'EARER', 'sha256='].concat(
      CREDENTIAL_PREFIXES.flatMap(encodeBase64Forms),
      CREDENTIAL_PREFIXES.flatMap(encodeHexForms),
    ),
  ),
];
const SECRET_NAME =
  /(?:authorization|cookie|token|secrets?|password|private[-_]?key|signature(?:-256)?|signed[-_]?data|jwt|pem)$/i;
/** Matches the same names as keys in JSON text. A line without them need not be parsed. */
const SECRET_KEY_IN_JSON =
  /(?:authorization|cookie|token|secrets?|password|private[-_]?key|signature(?:-256)?|signed[-_]?data|jwt|pem)":/i;

/** Replaces secrets in texts. */
export interface Mask {
  /** Masks secrets and whatever looks like a credential in any text. */
  readonly text: (text: string) => string;
  /** Masks a line of JSON: secrets in texts, and all values under names such as `password`. */
  readonly line: (line: string) => string;
  /** Whether the bytes contain one of the secrets in any of its forms. */
  readonly isSecretIn: (bytes: Buffer) => boolean;
}

/** Replaces everything in a text that looks like a credential by `[masked]`. */
export function maskCredentials(text: string): string {
  return mayContainCredential(text) ? text.replace(CREDENTIAL_PATTERN, MASK) : text;
}

/** Whether a text may contain a credential. A fast check before the slower pattern. */
function mayContainCredential(text: string): boolean {
  return CREDENTIAL_HINTS.some(hint => text.includes(hint));
}

/** Creates a mask that replaces these secrets. Also recognizes their base64, hex, JSON and URL encodings. */
export function createMask(secrets: readonly string[]): Mask {
  const secretForms = sortLongestFirst(secrets.flatMap(listSecretForms));
  const jsonForms = secretForms.map(escapeForJson);

  /** Replaces the secrets of this mask, and everything that looks like a credential, by `[masked]`. */
  function maskText(text: string): string {
    const withoutSecrets = secretForms.reduce(
      (remaining, form) => (remaining.includes(form) ? remaining.replaceAll(form, MASK) : remaining),
      text,
    );
    return maskCredentials(withoutSecrets);
  }

  /**
   * Masks the secrets in a parsed JSON value. If `isSecret` is true, masks every string in the value. Callers pass true for the value of a
   * field with a name such as `password`.
   */
  function maskValue(value: unknown, isSecret: boolean): unknown {
    if (typeof value === 'string') return isSecret && value !== '' ? MASK : maskText(value);
    if (Array.isArray(value)) return value.map(item => maskValue(item, isSecret));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, item]) => [maskText(name), maskValue(item, isSecret || SECRET_NAME.test(name))]),
    );
  }

  /** Whether a line of JSON may contain a secret. A fast check that avoids parsing most lines. */
  function mayContainSecret(json: string): boolean {
    return (
      SECRET_KEY_IN_JSON.test(json) ||
      mayContainCredential(json) ||
      jsonForms.some(form => json.includes(form))
    );
  }

  /** Masks the secrets in a line of JSON. A malformed line that may contain a secret is replaced by an error. */
  function maskLine(json: string): string {
    if (!mayContainSecret(json)) return json;
    try {
      return `${JSON.stringify(maskValue(JSON.parse(json), false))}\n`;
    } catch {
      return `${JSON.stringify({ level: 'error', msg: 'a line that could not be masked was not written' })}\n`;
    }
  }

  return {
    text: maskText,
    line: maskLine,
    isSecretIn: bytes => secretForms.some(form => bytes.includes(form)),
  };
}

/** A mask that learns secrets while it is in use, such as the access token of each request. `addSecret` adds a secret. */
export interface LearningMask extends Pick<Mask, 'text'> {
  /** Masks this secret too from now on. */
  addSecret(secret: string): void;
  /** Whether the bytes contain this secret in any of its forms. */
  isSecretIn(secret: string, bytes: Buffer): boolean;
}

/** At most this many credentials are in use at once. Older ones are still masked because they look like credentials. */
const MAX_ADDED_SECRETS = 64;

/** Creates a mask that replaces these secrets in texts. `addSecret` adds more secrets later. */
export function createLearningMask(secrets: readonly string[]): LearningMask {
  const initialMask = createMask(secrets);
  const addedMasks = new Map<string, Mask | null>();

  /** Returns the mask of one secret. Creates the mask on first use and keeps it. */
  function getAddedMask(secret: string): Mask {
    const mask = addedMasks.get(secret) ?? createMask([secret]);
    addedMasks.set(secret, mask);
    return mask;
  }

  return {
    addSecret: secret => {
      if (addedMasks.has(secret)) return;
      addedMasks.set(secret, null);
      if (addedMasks.size > MAX_ADDED_SECRETS) addedMasks.delete([...addedMasks.keys()][0] ?? '');
    },
    isSecretIn: (secret, bytes) => getAddedMask(secret).isSecretIn(bytes),
    text: text => {
      const secretsInUse = [...addedMasks.keys()];
      return initialMask.text(
        secretsInUse.reduce((remaining, secret) => getAddedMask(secret).text(remaining), text),
      );
    },
  };
}

/**
 * Returns the texts to mask for a secret: the whole secret and its long parts, each in several encodings. The secret is split at white
 * space (a key into its lines) and at dots (a JWT into its sections). Leaves out parts that begin with `eyJ`, as the header of a JWT does.
 * Returns an empty list for a secret that is too short to mask.
 */
function listSecretForms(secret: string): string[] {
  const whole = secret.trim();
  if (whole.length < MIN_MASKED_CHARACTERS) return [];
  // The header of a JWT is not secret: any JWT of the same kind begins with it.
  const isSecretPart = (part: string) => part.length >= MIN_PART_CHARACTERS && !part.startsWith('eyJ');
  // The parts are, for example, the lines of a key.
  const parts = whole.split(/\s|\\n|\./).filter(isSecretPart);
  return [whole, ...parts].flatMap(encodeSecretForms);
}

/** Returns the secret in each form in which it may appear in a text: plain, escaped for JSON, URL-encoded, as hex and as base64. */
function encodeSecretForms(secret: string): string[] {
  return [
    secret,
    escapeForJson(secret),
    encodeURIComponent(secret),
    new URLSearchParams({ q: secret }).toString().slice(2),
    ...encodeHexForms(secret),
    ...encodeBase64Forms(secret),
  ];
}

/** Encodes a secret as hex, in lower case and in upper case. */
function encodeHexForms(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  return [hex, hex.toUpperCase()];
}

/** Returns the base64 forms of a secret. They differ by where the secret begins in the encoded text. */
function encodeBase64Forms(secret: string): string[] {
  // Base64 encodes groups of three bytes, and the secret may begin at any byte of a group.
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap(shift => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const core = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    // The standard and the URL-safe alphabet.
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Sorts texts from longest to shortest and removes duplicates. */
function sortLongestFirst(texts: readonly string[]): string[] {
  // A shorter secret may be part of a longer one, which must be replaced first.
  return [...new Set(texts)].toSorted((a, b) => b.length - a.length);
}

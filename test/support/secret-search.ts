/** Searches for known secrets in any encoding, and for anything that looks like a token, a JWT or a key. */
export interface SecretSearch {
  /** Describes each secret in the content. `place` names the content in these descriptions. */
  find(place: string, content: string | Buffer): string[];
}

const MIN_LINE_CHARACTERS = 32;
const SHAPES: readonly (readonly [string, RegExp])[] = [
  ['a token', /cr[su]_\w{6,}/],
  ['the base64 of a token', /(?<![\w+/])Y3J[z1]X[\w+/=-]{12,}/],
  ['a JWT', /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/],
  ['a PEM', /-----BEGIN [A-Z ]*KEY-----/],
  ['a bearer', /\bbearer [\w.-]{12,}/i],
];

export function createSecretSearch(secrets: readonly string[]): SecretSearch {
  const known = secrets.flatMap(listSecretParts).flatMap(listEncodedForms);
  return {
    find(place, content) {
      const text = typeof content === 'string' ? content : content.toString('latin1');
      const shapeMatches = SHAPES.filter(([, shape]) => shape.test(text)).map(
        ([name, shape]) => `${name} in ${place}: ${quoteAround(text, text.search(shape))}`,
      );
      const secretMatches = known
        .filter(({ form }) => text.includes(form))
        .map(({ name }) => `${name} in ${place}`);
      return [...shapeMatches, ...secretMatches];
    },
  };
}

function listSecretParts(secret: string): string[] {
  if (secret.startsWith('eyJ')) return [secret, ...secret.split('.')];
  if (!secret.includes('-----BEGIN')) return [secret];
  return secret.split('\n').filter(line => line.length >= MIN_LINE_CHARACTERS && !line.startsWith('-----'));
}

function listEncodedForms(secret: string): { name: string; form: string }[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap(shift => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const core = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const name = `a secret that begins with ${secret.slice(0, 4)}`;
  return [
    { name, form: secret },
    { name: `the URL form of ${name}`, form: encodeURIComponent(secret) },
    { name: `the hex of ${name}`, form: bytes.toString('hex') },
    ...cores.map(form => ({ name: `the base64 of ${name}`, form })),
  ];
}

function quoteAround(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - 40), at + 20));
}

import { EvidenceError, throwTimestampError } from './evidence-error.js';
import { sha256 } from './hashes.js';
import { encodeDer, listDerChildren, parseOnlyDerElement } from './der.js';

/**
 * A timestamp of RFC 3161: an authority signs the hash of a text with an instant, so that the instant does not depend on the
 * clock and the key of the operator.
 *
 * This module writes requests, and checks that an answer belongs to its request. It does not check the signature of the
 * authority; verifiers do that with `openssl ts -verify`. Requests have a fixed form and only a few fields of an answer are
 * read, so der.ts replaces a library.
 */
export interface Timestamp {
  /** The time-stamp token: a signed message in DER. */
  readonly token: Uint8Array;
  /** The instant that the authority signed. */
  readonly at: string;
}

/**
 * Posts a timestamp request (DER) to an authority and returns its answer. Must fail for an answer of more than
 * `MAX_TIMESTAMP_BYTES`, and must not follow redirects.
 */
export type PostTimestampRequest = (
  body: Uint8Array,
) => Promise<{ readonly status: number; readonly body: Uint8Array }>;

/** The size of the largest accepted answer. Usual tokens have 2 to 8 kB. */
export const MAX_TIMESTAMP_BYTES = 65_536;
const NONCE_BYTES = 8;
// Elements in DER: the algorithm identifier of SHA-256, two content types of CMS and RFC 3161, an integer and a boolean.
const SHA256_ALGORITHM = Buffer.from('300d06096086480165030402010500', 'hex');
const SIGNED_DATA_TYPE = Buffer.from('06092a864886f70d010702', 'hex');
const TST_INFO_TYPE = Buffer.from('060b2a864886f70d0109100104', 'hex');
const VERSION_1 = Buffer.from('020101', 'hex');
const TRUE = Buffer.from('0101ff', 'hex');

// Tags of DER.
const [INTEGER, OCTET_STRING, GENERALIZED_TIME, SEQUENCE, EXPLICIT] = [0x02, 0x04, 0x18, 0x30, 0xa0];

/**
 * Requests a timestamp of a text. Throws an EvidenceError if the authority does not answer, or if its answer is not a timestamp
 * of this text and this request.
 */
export async function requestTimestamp(
  text: string,
  post: PostTimestampRequest,
  randomBytes: (size: number) => Uint8Array,
): Promise<Timestamp> {
  const imprint = computeImprint(text);
  const nonce = createNonce(randomBytes(NONCE_BYTES));
  const request = encodeDer(SEQUENCE, VERSION_1, imprint, nonce, TRUE);
  const answer = await readTimestampResponse(post(request));
  return parseTimestampResponse(answer, imprint, nonce);
}

/** Awaits the answer to a request and returns its body. Throws an EvidenceError unless its HTTP status is 200. */
async function readTimestampResponse(response: ReturnType<PostTimestampRequest>): Promise<Uint8Array> {
  const { status, body } = await response.catch((cause: unknown) => {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    throw new EvidenceError(`no timestamp: the authority did not answer${reason}`, { cause });
  });
  if (status !== 200) throwTimestampError(`it answered with HTTP status ${status}`);
  return body;
}

/** Returns true if a time-stamp token is about this text. Does not check the signature of the token. */
export function isTimestampOf(token: Uint8Array, text: string): boolean {
  try {
    return isEqual(parseTimestampToken(token).imprint, computeImprint(text));
  } catch {
    return false;
  }
}

/** Parses an answer in DER. Throws an EvidenceError unless it grants a timestamp with this imprint and this nonce. */
function parseTimestampResponse(answer: Uint8Array, imprint: Uint8Array, nonce: Uint8Array): Timestamp {
  const [info, token] = listDerChildren(parseOnlyDerElement(answer));
  const [status] = info === undefined ? [] : listDerChildren(info);
  const granted = status === undefined ? -1 : (status.content[0] ?? -1);
  if (granted !== 0 && granted !== 1) throwTimestampError(`it refused the request (status ${granted})`);
  if (token === undefined) return throwTimestampError('its answer has no token');
  const found = parseTimestampToken(token.whole);
  if (!isEqual(found.imprint, imprint)) throwTimestampError('its token is about another text');
  if (!found.fields.some(({ whole }) => isEqual(whole, nonce)))
    throwTimestampError('its token answers another request');
  return { token: token.whole, at: found.at };
}

/**
 * Parses the signed content of a time-stamp token: the imprint, the instant and all later fields, one of which is the nonce.
 * Throws an EvidenceError if it is malformed.
 */
function parseTimestampToken(token: Uint8Array) {
  const [type, explicit] = listDerChildren(parseOnlyDerElement(token));
  if (type === undefined || explicit === undefined || !isEqual(type.whole, SIGNED_DATA_TYPE))
    return throwTimestampError('its token is not a signed message');
  const signedData = parseOnlyDerElement(explicit.content);
  const content = listDerChildren(signedData)[2];
  const [contentType, explicitContent] = content === undefined ? [] : listDerChildren(content);
  if (
    contentType === undefined ||
    explicitContent === undefined ||
    !isEqual(contentType.whole, TST_INFO_TYPE)
  )
    return throwTimestampError('its token is not a timestamp');
  const octets = parseOnlyDerElement(explicitContent.content);
  if (octets.tag !== OCTET_STRING || explicitContent.tag !== EXPLICIT)
    throwTimestampError('its token is not a timestamp');
  const fields = listDerChildren(parseOnlyDerElement(octets.content));
  const imprint = fields[2]?.whole ?? throwTimestampError('its token has no hash');
  const time =
    fields.find(({ tag }) => tag === GENERALIZED_TIME) ?? throwTimestampError('its token has no instant');
  return {
    imprint,
    at: parseTimestampTime(Buffer.from(time.content).toString('latin1')),
    fields: fields.slice(4),
  };
}

/** Encodes the SHA-256 of a text as the message imprint of RFC 3161: algorithm and hash in DER. */
function computeImprint(text: string): Uint8Array {
  return encodeDer(SEQUENCE, SHA256_ALGORITHM, encodeDer(OCTET_STRING, sha256(Buffer.from(text))));
}

/** Encodes random bytes as a DER integer. Sets the first bits so that it is positive and has no superfluous first byte. */
function createNonce(random: Uint8Array): Uint8Array {
  const bytes = Buffer.from(random);
  bytes[0] = 0x40 | (Number(bytes[0]) & 0x3f);
  return encodeDer(INTEGER, bytes);
}

/** Converts an instant of a token, such as 20261129012345.678Z, to `2026-11-29T01:23:45.678Z`. */
function parseTimestampTime(text: string): string {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d+))?Z$/.exec(text) ??
    throwTimestampError('its token has no instant');
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

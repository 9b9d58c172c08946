import { EvidenceError, throwTimestampFault } from './evidence-error.js';
import { sha256 } from './hashes.js';
import { encodeDer, listDerChildren, parseOnlyDerElement } from './der.js';

/**
 * Timestamps of RFC 3161. An authority signs the hash of a checkpoint with an instant, so the instant does not depend on the
 * clock and the key of the operator. This module writes the request and reads as much of the answer as it takes to notice
 * that it is no answer to the request. The signature of the authority is for verifiers: `openssl ts -verify` checks it.
 *
 * The request has a fixed form, and the answer needs nine fields, so a reader of DER of thirty lines replaces a library.
 */
export interface Timestamp {
  /** The time-stamp token: a signed message in DER. */
  readonly token: Uint8Array;
  /** The instant that the authority signed. */
  readonly at: string;
}

/** Posts a request and returns the whole answer, of at most `MAX_TIMESTAMP_BYTES`. Redirects must not be followed. */
export type PostTimestampRequest = (
  body: Uint8Array,
) => Promise<{ readonly status: number; readonly body: Uint8Array }>;

/** Tokens have 2 to 8 kB. */
export const MAX_TIMESTAMP_BYTES = 65_536;
const NONCE_BYTES = 8;
const SHA256 = Buffer.from('300d06096086480165030402010500', 'hex');
const SIGNED_DATA = Buffer.from('06092a864886f70d010702', 'hex');
const TST_INFO = Buffer.from('060b2a864886f70d0109100104', 'hex');
const VERSION_1 = Buffer.from('020101', 'hex');
const TRUE = Buffer.from('0101ff', 'hex');

const [INTEGER, OCTET_STRING, GENERALIZED_TIME, SEQUENCE, EXPLICIT] = [0x02, 0x04, 0x18, 0x30, 0xa0];

/** Requests a timestamp of a text. Throws if the answer is not a timestamp of exactly this request. */
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

async function readTimestampResponse(answering: ReturnType<PostTimestampRequest>): Promise<Uint8Array> {
  const { status, body } = await answering.catch((cause: unknown) => {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    throw new EvidenceError(`no timestamp: the authority did not answer${reason}`, { cause });
  });
  if (status !== 200) throwTimestampFault(`it answered with HTTP status ${status}`);
  return body;
}

/** Whether a token is about a text. */
export function isTimestampOf(token: Uint8Array, text: string): boolean {
  try {
    return isEqual(parseTimestampToken(token).imprint, computeImprint(text));
  } catch {
    return false;
  }
}

function parseTimestampResponse(answer: Uint8Array, imprint: Uint8Array, nonce: Uint8Array): Timestamp {
  const [info, token] = listDerChildren(parseOnlyDerElement(answer));
  const [status] = info === undefined ? [] : listDerChildren(info);
  const granted = status === undefined ? -1 : (status.content[0] ?? -1);
  if (granted !== 0 && granted !== 1) throwTimestampFault(`it refused the request (status ${granted})`);
  if (token === undefined) return throwTimestampFault('its answer has no token');
  const found = parseTimestampToken(token.whole);
  if (!isEqual(found.imprint, imprint)) throwTimestampFault('its token is about another text');
  if (!found.fields.some(({ whole }) => isEqual(whole, nonce)))
    throwTimestampFault('its token answers another request');
  return { token: token.whole, at: found.at };
}

/** Reads the signed content of a token. */
function parseTimestampToken(token: Uint8Array) {
  const [type, explicit] = listDerChildren(parseOnlyDerElement(token));
  if (type === undefined || explicit === undefined || !isEqual(type.whole, SIGNED_DATA))
    return throwTimestampFault('its token is not a signed message');
  const signedData = parseOnlyDerElement(explicit.content);
  const content = listDerChildren(signedData)[2];
  const [contentType, explicitContent] = content === undefined ? [] : listDerChildren(content);
  if (contentType === undefined || explicitContent === undefined || !isEqual(contentType.whole, TST_INFO))
    return throwTimestampFault('its token is not a timestamp');
  const octets = parseOnlyDerElement(explicitContent.content);
  if (octets.tag !== OCTET_STRING || explicitContent.tag !== EXPLICIT)
    throwTimestampFault('its token is not a timestamp');
  const fields = listDerChildren(parseOnlyDerElement(octets.content));
  const imprint = fields[2]?.whole ?? throwTimestampFault('its token has no hash');
  const time =
    fields.find(({ tag }) => tag === GENERALIZED_TIME) ?? throwTimestampFault('its token has no instant');
  return {
    imprint,
    at: parseTimestampTime(Buffer.from(time.content).toString('latin1')),
    fields: fields.slice(4),
  };
}

function computeImprint(text: string): Uint8Array {
  return encodeDer(SEQUENCE, SHA256, encodeDer(OCTET_STRING, sha256(Buffer.from(text))));
}

/** Returns a positive integer of which no byte can be left out, as DER demands. */
function createNonce(random: Uint8Array): Uint8Array {
  const bytes = Buffer.from(random);
  bytes[0] = 0x40 | (Number(bytes[0]) & 0x3f);
  return encodeDer(INTEGER, bytes);
}

/** Reads an instant such as 20261129012345.678Z. */
function parseTimestampTime(text: string): string {
  const [, year, month, day, hour, minute, second, fraction = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d+))?Z$/.exec(text) ??
    throwTimestampFault('its token has no instant');
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

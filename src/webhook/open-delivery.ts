/**
 * Opens a webhook: verifies the signature of the signed text exactly as it was sent, then decodes and parses it. Only signed data
 * is used; unsigned fields beside it are compared and otherwise ignored. Once the signature is valid, no delivery is rejected,
 * because the registry would send it again: content that cannot be used is ignored, with a reason.
 */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { NewDelivery } from '../inbox/delivery.js';
import { maskCredentials } from '../text/mask.js';
import { isId, isObject } from '../text/checks.js';
import { type ContentFault, getMember, type JsonObject, parseContent, parseJson } from './payload-content.js';
import { verifySignature } from './signature.js';

/** Why a verified delivery is ignored. */
export type IgnoredReason = ContentFault | 'other_app' | 'no_installation_id';

/** A verified delivery, without the time of its arrival. */
export type Delivery = Omit<NewDelivery, 'receivedMsAgo'>;

/** Why a webhook is rejected, and the status and detail of the response. The detail does not help to forge a signature. */
export interface VerificationFailure {
  readonly reason: 'no_signed_text' | 'signature_not_valid';
  readonly status: 400 | 401;
  readonly detail: string;
}

/** A rejected webhook or a verified delivery. */
export type OpenedDelivery =
  | ({ readonly verdict: 'rejected' } & VerificationFailure)
  | { readonly verdict: 'accepted' | 'ignored'; readonly delivery: Delivery };

export interface OpenDeliveryOptions {
  /** The bytes of the post, exactly as they arrived. */
  readonly body: Uint8Array;
  /** The signature header as it was sent. Without one, the webhook is rejected. */
  readonly signature: string | null | undefined;
  /** The secrets that may have signed, newest first; all are tried. */
  readonly secrets: readonly string[];
  /** The id of this app. Deliveries for other apps are ignored. */
  readonly appId: string;
}

const MAX_EVENT_LENGTH = 100;
const MAX_CONTRADICTED_LENGTH = 200;

/** Verifies the signature of a webhook, and parses its body. Returns the delivery, or the reason why the webhook is rejected. */
export function openDelivery(options: OpenDeliveryOptions): OpenedDelivery {
  assertOptionTypes(options);
  const { body, signature, secrets, appId } = options;
  if (!isUtf8(body)) return rejectBody('expected the body to be UTF-8');
  const outer = parseJson(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  if (!isObject(outer)) return rejectBody('expected the body to be a JSON object');
  const signedData = getMember(outer, 'signedData');
  if (typeof signedData !== 'string') return rejectBody('expected signedData to be a string');
  // Frameworks return undefined for a header of another name. Null is the answer of our receiver, whose answers are all alike.
  if (signature === undefined) return rejectSignature('there is no signature header with this name');
  const secretIndex = verifySignature(signedData, signature, secrets);
  if (secretIndex === -1) return rejectSignature('the signature is not valid');
  const fields = readSignedFields(signedData, outer, appId);
  const verdict = fields.reason === null ? 'accepted' : 'ignored';
  const sha256 = hash('sha256', signedData);
  return { verdict, delivery: { ...fields, verdict, signedData, sha256, secretIndex } };
}

/** Throws a `TypeError` for options of a wrong type, because callers in JavaScript have no type checks. */
function assertOptionTypes({
  body,
  secrets,
  appId,
}: Readonly<Record<keyof OpenDeliveryOptions, unknown>>): void {
  if (!(body instanceof Uint8Array))
    throw new TypeError(
      'body: expected the bytes of the post as they arrived, not a text or parsed JSON. Read the body without a JSON parser.',
    );
  if (!Array.isArray(secrets))
    throw new TypeError('secrets: expected a list of texts. Pass one secret as [secret].');
  if (typeof appId !== 'string' || appId === '')
    throw new TypeError(
      'appId: expected the id of the app. Without it, no delivery can be told from those of other apps.',
    );
}

/** Creates the rejection of a post that no secret has signed. */
function rejectSignature(detail: string): OpenedDelivery {
  return { verdict: 'rejected', reason: 'signature_not_valid', status: 401, detail };
}

/** Creates the rejection of a body that contains no signed text. */
function rejectBody(detail: string): OpenedDelivery {
  return { verdict: 'rejected', reason: 'no_signed_text', status: 400, detail };
}

/** The fields of a delivery that are read from its signed text. */
type SignedFields = Pick<Delivery, 'event' | 'installationId' | 'organizationId' | 'contradictedFields'> & {
  readonly reason: IgnoredReason | null;
};

const NO_FIELDS = { event: null, installationId: null, organizationId: null, contradictedFields: null };

/**
 * Reads the fields of a delivery from its signed text. `contradictedFields` names the unsigned fields that differ, and
 * `reason` says why the delivery is ignored; both may be null.
 */
function readSignedFields(signedData: string, unsignedBody: JsonObject, appId: string): SignedFields {
  const content = parseContent(signedData);
  if ('fault' in content) return { ...NO_FIELDS, reason: content.fault };
  const readField = (name: string) => getMember(content.object, name);
  const installation = readField('installation');
  const organization = getMember(installation, 'organization');
  const installationId = toId(getMember(installation, 'id') ?? readField('installationId'));
  const organizationId = toId(
    getMember(organization, 'id') ?? getMember(installation, 'organizationId') ?? readField('organizationId'),
  );
  const signedAppId = getMember(installation, 'appId') ?? readField('appId');
  const isForOtherApp = typeof signedAppId === 'string' && signedAppId !== appId;
  return {
    event: toEventName(readField('event')),
    installationId,
    organizationId,
    contradictedFields: listContradictedFields(content.object, unsignedBody),
    reason: isForOtherApp ? 'other_app' : installationId === null ? 'no_installation_id' : null,
  };
}

/** Returns the value if it is a well-formed id, otherwise null. */
function toId(value: unknown): string | null {
  return isId(value) ? value : null;
}

/** Returns the event name, shortened to 100 characters. Returns null for a value that is not a string. */
function toEventName(value: unknown): string | null {
  // Any name is accepted, because the registry may add events.
  return typeof value === 'string' ? toPlainText(value, MAX_EVENT_LENGTH) : null;
}

/** Returns the names of the unsigned fields that differ from the signed ones, joined by commas. Null if none differs. */
function listContradictedFields(signedFields: JsonObject, unsignedFields: JsonObject): string | null {
  const names = Object.keys(unsignedFields).filter(
    name => name !== 'signedData' && !isDeepStrictEqual(getMember(signedFields, name), unsignedFields[name]),
  );
  if (names.length === 0) return null;
  return toPlainText(maskCredentials(names.join(', ')), MAX_CONTRADICTED_LENGTH);
}

/** Shortens a text. Replaces NULs and lone surrogates, which some database tools cannot read. */
function toPlainText(text: string, maxLength: number): string {
  return Buffer.from(text.slice(0, maxLength)).toString().replaceAll('\0', '\uFFFD');
}

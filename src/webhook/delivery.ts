import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { NewDelivery } from '../inbox/delivery.js';
import { maskCredentials } from '../registry/http/mask.js';
import { isId, isObject } from '../registry/model.js';
import { type ContentFault, type JsonObject, member, parseJson, readContent } from './content.js';
import { verifySignature } from './signature.js';

export type IgnoredReason = ContentFault | 'other_app' | 'no_installation_id';

export type Delivery = Omit<NewDelivery, 'receivedMsAgo'>;

/** 400: no signed text to check. 401: not signed by a secret of ours; why is not said. */
export type Opened =
  | { readonly verdict: 'rejected'; readonly status: 400 | 401; readonly detail: string }
  | { readonly verdict: 'accepted' | 'ignored'; readonly delivery: Delivery };

export interface OpenDeliveryOptions {
  readonly body: Uint8Array;
  /** The header as it was sent; null when there was none. */
  readonly signature: string | null;
  /** Newest first; all are tried. */
  readonly secrets: readonly string[];
  readonly appId: string;
}

const MAX_EVENT_LENGTH = 100;
const MAX_MISMATCH_LENGTH = 200;

/**
 * Verify the signed text as it was sent, then decode it, then parse it, and believe nothing else.
 * Once the signature is good no content is rejected: what cannot be used is ignored with its reason.
 */
export function openDelivery({ body, signature, secrets, appId }: OpenDeliveryOptions): Opened {
  if (!isUtf8(body)) return reject('expected the body to be UTF-8');
  const outer = parseJson(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  if (!isObject(outer)) return reject('expected the body to be a JSON object');
  const signedData = member(outer, 'signedData');
  if (typeof signedData !== 'string') return reject('expected signedData to be a string');
  const secretIndex = verifySignature(signedData, signature, secrets);
  if (secretIndex === -1) return { verdict: 'rejected', status: 401, detail: 'the signature is not valid' };
  const signed = readSigned(signedData, outer, appId);
  const verdict = signed.reason === null ? 'accepted' : 'ignored';
  const sha256 = hash('sha256', signedData);
  return { verdict, delivery: { ...signed, verdict, signedData, sha256, secretIndex } };
}

function reject(detail: string): Opened {
  return { verdict: 'rejected', status: 400, detail };
}

type Signed = Pick<Delivery, 'event' | 'installationId' | 'organizationId' | 'contradictedFields'> & {
  readonly reason: IgnoredReason | null;
};

const NOTHING = { event: null, installationId: null, organizationId: null, contradictedFields: null };

function readSigned(signedData: string, outer: JsonObject, appId: string): Signed {
  const content = readContent(signedData);
  if ('fault' in content) return { ...NOTHING, reason: content.fault };
  const flat = (name: string) => member(content.object, name);
  const installation = flat('installation');
  const installationId = usableId(member(installation, 'id') ?? flat('installationId'));
  const signedAppId = member(installation, 'appId') ?? flat('appId');
  const isOther = typeof signedAppId === 'string' && signedAppId !== appId;
  return {
    event: readEvent(flat('event')),
    installationId,
    organizationId: usableId(
      member(member(installation, 'organization'), 'id') ??
        member(installation, 'organizationId') ??
        flat('organizationId'),
    ),
    contradictedFields: findMismatch(content.object, outer),
    reason: isOther ? 'other_app' : installationId === null ? 'no_installation_id' : null,
  };
}

function usableId(value: unknown): string | null {
  return isId(value) ? value : null;
}

/** Any name is kept, for events that the registry adds later. */
function readEvent(value: unknown): string | null {
  return typeof value === 'string' ? plainText(value, MAX_EVENT_LENGTH) : null;
}

/** Names of the signed members that stand outside with another value. */
function findMismatch(signed: JsonObject, outer: JsonObject): string | null {
  const names = Object.keys(outer).filter(
    name => name !== 'signedData' && !isDeepStrictEqual(member(signed, name), outer[name]),
  );
  return names.length === 0 ? null : plainText(maskCredentials(names.join(', ')), MAX_MISMATCH_LENGTH);
}

/** Short, well-formed and without NUL, which other readers of the database stumble over. */
function plainText(text: string, maxLength: number): string {
  return Buffer.from(text.slice(0, maxLength)).toString().replaceAll('\0', '\uFFFD');
}

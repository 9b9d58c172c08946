/** The public module `carbon-mirror/webhook`, for apps that receive the registry's webhooks with their own server. */
import { parsePayload, type Payload } from '../registry/json/parse-payload.js';
import type { Delivery } from './open-delivery.js';

export {
  type Delivery,
  openDelivery,
  type OpenDeliveryOptions,
  type OpenedDelivery,
  type IgnoredReason,
  type VerificationFailure,
} from './open-delivery.js';
export type { Payload };

/** Parses the signed text of an accepted delivery. Does not verify the signature. */
export function readPayload({ signedData }: Pick<Delivery, 'signedData'>): Payload {
  return parsePayload(Buffer.from(signedData, 'base64').toString());
}

import { parsePayload, type Payload } from '../registry/json/parse-payload.js';
import type { Delivery } from './delivery.js';

export {
  type Delivery,
  openDelivery,
  type OpenDeliveryOptions,
  type Opened,
  type IgnoredReason,
} from './delivery.js';
export type { Payload };

/** Of a delivery that `openDelivery` accepted: only then is its text signed, decoded and free of what two readers read differently. */
export function readPayload({ signedData }: Pick<Delivery, 'signedData'>): Payload {
  return parsePayload(Buffer.from(signedData, 'base64').toString());
}

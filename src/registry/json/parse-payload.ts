import type { CreditTransaction, Installation, User, WebhookEvent } from '../object-models.js';
import { parseInstallation, parseTransaction, parseUser } from './parse-objects.js';
import { getObjectField, getOptionalText, parseObject } from './json-object.js';

/** The signed content of a webhook. It only hints that something changed; the current state is read from the registry. */
export interface Payload {
  /** The event's name, kept even if it is unknown here, or null if there is none. */
  readonly event: WebhookEvent | null;
  readonly installation: Installation | null;
  readonly transaction: CreditTransaction | null;
  readonly sender: User | null;
  readonly document: string;
}

/** Parses the signed JSON text of a webhook. Throws a `bad_answer` error if the text is malformed. */
export function parsePayload(signedText: string): Payload {
  const payload = parseObject(signedText, 'payload');
  const installation = getObjectField(payload, 'installation');
  const transaction = getObjectField(payload, 'transaction');
  const sender = getObjectField(payload, 'sender');
  return {
    event: getOptionalText(payload, ['event']),
    installation: installation && parseInstallation(installation),
    transaction: transaction && parseTransaction(transaction),
    sender: sender && parseUser(sender),
    document: payload.text,
  };
}

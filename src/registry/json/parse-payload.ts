import type { Installation, Transaction, User } from '../model.js';
import { parseInstallation, parseTransaction, parseUser } from './parse.js';
import { memberSource, optionalText, readSource } from './fields.js';

/** What a webhook tells, as its signed text says it. It is a hint: the truth is asked of the registry. */
export interface Payload {
  /** Null where it does not say one. Names that the registry adds later are kept. */
  readonly event: string | null;
  readonly installation: Installation | null;
  readonly transaction: Transaction | null;
  readonly sender: User | null;
  readonly document: string;
}

/** Throws a `RegistryError` with `bad_answer` where a part has not its shape: an id that is none, JSON that is none. */
export function parsePayload(text: string): Payload {
  const source = readSource(text, 'payload');
  const installation = memberSource(source, 'installation');
  const transaction = memberSource(source, 'transaction');
  const sender = memberSource(source, 'sender');
  return {
    event: optionalText(source, ['event']),
    installation: installation && parseInstallation(installation),
    transaction: transaction && parseTransaction(transaction),
    sender: sender && parseUser(sender),
    document: source.text,
  };
}

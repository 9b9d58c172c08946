import type { SaidDelivery } from '../../inbox/delivery.js';
import { answersFrom } from '../../inbox/job.js';
import type { SaidTransaction, Task } from '../../mirror/port.js';
import { RegistryError } from '../../registry/errors.js';
import { parsePayload } from '../../registry/json/parse-payload.js';
import { isId, type Transaction } from '../../registry/model.js';
import type { CausedJob } from '../cause.js';
import type { Context } from '../context.js';

const EVENTS = ['warehouseTransaction', 'organizationTransaction'];
const AT_ONCE = 100;

/** Where it is said, and where it is noted. */
interface Said {
  readonly inbox: Pick<Context['inbox'], 'said'>;
  readonly mirror: Pick<Context['mirror'], 'lastTransaction' | 'noteTransactions'>;
}

/**
 * What the deliveries of this job and of those before it say of transactions. Nothing is believed of it and nothing is
 * asked for it: who wants to know whether it is so looks at what was read.
 */
export async function noteTransactions(
  { inbox, mirror }: Said,
  { job, signal, turn }: Pick<CausedJob, 'job' | 'signal' | 'turn'>,
  installationId: string,
  task: Task,
): Promise<void> {
  if (answersFrom(job) === null) return;
  let above = await mirror.lastTransaction(installationId);
  for (;;) {
    signal.throwIfAborted();
    const said = await inbox.said({ installationId, events: EVENTS, jobId: job.id, above, limit: AT_ONCE });
    if (said.length > 0) await mirror.noteTransactions(task, installationId, said.map(sayOf));
    if (said.length < AT_ONCE) return;
    above = said.at(-1)?.id ?? above;
    await turn();
  }
}

function sayOf({ id: deliveryId, receivedAt, event, digest, signedData }: SaidDelivery): SaidTransaction {
  return { digest, deliveryId, receivedAt, event, ...read(signedData) };
}

type Details = Omit<SaidTransaction, 'digest' | 'deliveryId' | 'receivedAt' | 'event'>;

const NOTHING: Details = {
  id: null,
  type: null,
  status: null,
  creditId: null,
  amount: null,
  amountMicro: null,
  amountExact: null,
  fault: null,
};

function read(signedData: string): Details {
  try {
    const { transaction } = parsePayload(Buffer.from(signedData, 'base64').toString('utf8'));
    return transaction === null
      ? { ...NOTHING, fault: 'it tells of no transaction' }
      : detailsOf(transaction);
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return { ...NOTHING, fault: 'what it tells cannot be read' };
  }
}

function detailsOf({ id, type, status, creditId, amount }: Transaction): Details {
  const { exact, value, micro, fault } = amount;
  return {
    id: isId(id) ? id : null,
    type: wordOf(type),
    status: wordOf(status),
    creditId: isId(creditId) ? creditId : null,
    amount: value,
    amountMicro: micro,
    amountExact: exact,
    fault,
  };
}

/** A word of the registry's, and nothing that could be about a person or draw on a terminal. */
function wordOf(text: string | null): string | null {
  return text !== null && /^[A-Za-z][A-Za-z_ -]{0,39}$/.test(text) ? text : null;
}

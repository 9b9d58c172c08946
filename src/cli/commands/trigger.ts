import { randomUUID } from 'node:crypto';
import { readSettings } from '../../app/config/config.js';
import { WEBHOOK_EVENTS, isObject } from '../../registry/model.js';
import { signDelivery } from '../../webhook/signature.js';
import { command } from '../command.js';
import { checkFault, CommandFault, EXIT, usageFault } from '../exit.js';
import { choice, flag, HOW_NAMED, needed, text } from '../options.js';
import { installedOn } from '../find/in-mirror.js';
import { receiverUrl } from '../this-machine.js';
import { findExceededLimit } from '../../registry/json/json-text.js';

const ANSWER_WITHIN_MS = 20_000;

export const TRIGGER = command({
  says: 'Sign and post a delivery as the registry would, to the receiver',
  words: { event: needed(choice('event', 'the event that it announces', WEBHOOK_EVENTS)) },
  options: {
    organization: needed(text('name', `the organization that it is about: ${HOW_NAMED}`)),
    url: text('url', 'the whole address to post to (default: /webhooks at HOST and PORT)'),
    badSignature: flag('sign it with a made-up secret: it must be rejected'),
  },
  prints: { json: 'print the answer as JSON' },
  examples: [
    'carbon-mirror trigger warehouseTransaction --organization ID',
    'carbon-mirror trigger installed --organization ID --bad-signature',
  ],
  run: async (context, given) => {
    const { io, format, value, print, say } = context;
    const { event, organization, badSignature: isForged } = given;
    const { webhookSecrets, appId, host, port, headerPrefix } = await readSettings(
      context.settings().env,
      'receive',
    );
    const subject = await installedOn(await context.reader(), organization);
    const { body, signedData } = createDelivery(event, subject, appId, io.now());
    const url = readUrl(given.url, host, port);
    const signature = signDelivery(signedData, isForged ? randomUUID() : (webhookSecrets[0] ?? ''));
    const signed = { [`x-${headerPrefix}-signature-256`]: signature };
    const status = await post(url, { 'content-type': 'application/json', ...signed }, body);
    const { id } = subject;
    if (format === 'json') await value({ event, installation: id, url, status });
    else await print(`${status}  ${event} of installation ${id} to ${url}`);
    say(demandAnswered(status, isForged, given.url === undefined));
  },
});

const ADVICE: Readonly<Record<number, string>> = {
  401: 'The receiver knows another secret: compare WEBHOOK_SECRETS here and there.',
  404: 'A receiver of ours listens at /webhooks: give the whole address with --url.',
  503: "The receiver could not store it: see its log, the disk and who holds inbox.db's lock.",
};

/** What nobody has signed must not be stored. */
function demandAnswered(status: number, isForged: boolean, isOurs: boolean): string {
  const from = isForged ? 400 : 200;
  const isMeant = status >= from && status < from + 100;
  if (isMeant && isForged)
    return `It was rejected, as it must be.${isOurs ? ' "carbon-mirror deliveries rejected" counts it.' : ''}`;
  if (isMeant)
    return `It was accepted.${isOurs ? ' "carbon-mirror deliveries list" says what became of it.' : ''}`;
  throw checkFault(
    `The ${isForged ? 'forged delivery' : 'delivery'} was answered ${status}, not from ${from} to ${from + 99}.`,
    isForged && status < 300
      ? 'Whatever answers there does not check signatures.'
      : (ADVICE[status] ?? "See the receiver's log."),
  );
}

async function post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const isSilent = error instanceof Error && error.name === 'TimeoutError';
    const silent = `${url} gave no answer within ${ANSWER_WITHIN_MS / 1000} s.`;
    const todo = 'Start "carbon-mirror up" or "receive", or say where it listens with PORT or --url.';
    throw new CommandFault(EXIT.unreachable, isSilent ? silent : `No receiver answers at ${url}.`, todo);
  }
}

function readUrl(given: string | undefined, host: string, port: number): string {
  const url = given ?? receiverUrl(host, port);
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw usageFault(`--url: expected an address such as http://127.0.0.1:8080/webhooks, got "${url}".`);
}

/** The body of a delivery, and the text of it that is signed. */
function createDelivery(
  event: string,
  { id, organizationId, document }: Awaited<ReturnType<typeof installedOn>>,
  appId: string,
  now: number,
) {
  const at = new Date(now).toISOString();
  const known: unknown = findExceededLimit(document) === null ? JSON.parse(document) : {};
  const made = { id, appId, createdAt: at, updatedAt: at, permissions: { organization_info: 'VIEW' } };
  const installation = { ...made, organization: { id: organizationId }, ...(isObject(known) && known) };
  const signedData = Buffer.from(JSON.stringify({ event, installation })).toString('base64');
  return { body: JSON.stringify({ event, installation, signedData }), signedData };
}

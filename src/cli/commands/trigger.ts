import { randomUUID } from 'node:crypto';
import { readSettings } from '../../app/config/config.js';
import { WEBHOOK_EVENTS, isObject } from '../../registry/model.js';
import { signDelivery } from '../../webhook/signature.js';
import { defineCommand } from '../command.js';
import { createCheckError, CommandError, EXIT, createUsageError } from '../exit.js';
import { defineChoice, defineFlag, NAME_HINT, makeRequired, defineText } from '../options.js';
import { findInstallationOfOrganization } from '../find/find-rows.js';
import { formatReceiverUrl } from '../loopback.js';
import { findExceededLimit } from '../../registry/json/json-text.js';

const ANSWER_WITHIN_MS = 20_000;

export const TRIGGER = defineCommand({
  summary: 'Send a signed test delivery to the receiver',
  details: 'Signs and posts it as the registry would.',
  args: { event: makeRequired(defineChoice('event', 'the event to announce', WEBHOOK_EVENTS)) },
  options: {
    organization: makeRequired(defineText('name', `the organization it concerns${NAME_HINT}`)),
    url: defineText('url', 'URL to post to (default: /webhooks at HOST and PORT)'),
    badSignature: defineFlag('sign with a wrong secret; the receiver must reject it'),
  },
  formats: { json: 'print the answer as JSON' },
  examples: [
    'carbon-mirror trigger warehouseTransaction --organization ID',
    'carbon-mirror trigger installed --organization ID --bad-signature',
  ],
  run: async (context, given) => {
    const { io, format, printJson, printLines, printNotice } = context;
    const { event, organization, badSignature: isForged } = given;
    const { webhookSecrets, appId, host, port, headerPrefix } = await readSettings(
      context.findMirror().env,
      'receive',
    );
    const subject = await findInstallationOfOrganization(await context.openReader(), organization);
    const { body, signedData } = createDelivery(event, subject, appId, io.now());
    const url = readUrl(given.url, host, port);
    const signature = signDelivery(signedData, isForged ? randomUUID() : (webhookSecrets[0] ?? ''));
    const signed = { [`x-${headerPrefix}-signature-256`]: signature };
    const status = await post(url, { 'content-type': 'application/json', ...signed }, body);
    const { id } = subject;
    if (format === 'json') await printJson({ event, installation: id, url, status });
    else await printLines(`${status}  ${event} of installation ${id} to ${url}`);
    printNotice(demandAnswered(status, isForged, given.url === undefined));
  },
});

const ADVICE: Readonly<Record<number, string>> = {
  401: 'The receiver uses another secret. Compare WEBHOOK_SECRETS here with the receiver.',
  404: 'The receiver listens at /webhooks. Give the full URL with --url.',
  503: 'The receiver could not store it. Check its log, the disk, and which process locks inbox.db.',
};

/** What nobody has signed must not be stored. */
function demandAnswered(status: number, isForged: boolean, isOurs: boolean): string {
  const from = isForged ? 400 : 200;
  const isMeant = status >= from && status < from + 100;
  if (isMeant && isForged)
    return `Rejected, as expected.${isOurs ? ' See "carbon-mirror deliveries rejected".' : ''}`;
  if (isMeant) return `Accepted.${isOurs ? ' Follow it with "carbon-mirror deliveries list".' : ''}`;
  throw createCheckError(
    `Expected status ${from} to ${from + 99} for the ${isForged ? 'forged delivery' : 'delivery'}, got ${status}.`,
    isForged && status < 300
      ? 'The server at that URL does not check signatures.'
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
    const silent = `${url} did not answer within ${ANSWER_WITHIN_MS / 1000} s.`;
    const todo = 'Start "carbon-mirror up" or "receive", or set PORT or --url to where it listens.';
    throw new CommandError(EXIT.unreachable, isSilent ? silent : `No receiver answers at ${url}.`, todo);
  }
}

function readUrl(given: string | undefined, host: string, port: number): string {
  const url = given ?? formatReceiverUrl(host, port);
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw createUsageError(`--url: expected a URL such as http://127.0.0.1:8080/webhooks, got "${url}".`);
}

/** The body of a delivery, and the text of it that is signed. */
function createDelivery(
  event: string,
  { id, organizationId, document }: Awaited<ReturnType<typeof findInstallationOfOrganization>>,
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

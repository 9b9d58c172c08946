import { randomUUID } from 'node:crypto';
import { readSettings } from '../../app/config/read-settings.js';
import { WEBHOOK_EVENTS } from '../../registry/object-models.js';
import { isObject } from '../../text/checks.js';
import { signDelivery } from '../../webhook/signature.js';
import { defineCommand } from '../define-command.js';
import { createCheckError } from '../command-error.js';
import { defineChoice, defineFlag, NAME_HINT, makeRequired, defineText } from '../options.js';
import { findInstallationOfOrganization } from '../find-rows.js';
import { postWebhook, requireLoopbackUrl, formatReceiverUrl } from '../post-webhook.js';
import { findExceededLimit } from '../../registry/json/json-text.js';

export const TRIGGER = defineCommand({
  summary: 'Send a signed test delivery to the receiver',
  details: 'Signs and posts the delivery as the registry would.',
  args: { event: makeRequired(defineChoice('event', 'the event to announce', WEBHOOK_EVENTS)) },
  options: {
    organization: makeRequired(defineText('name', `the organization that the event is about${NAME_HINT}`)),
    url: defineText('url', 'URL on this machine to post to (default: /webhooks at HOST and PORT)'),
    badSignature: defineFlag('sign with a wrong secret; the receiver must reject it'),
  },
  formats: { json: 'print the response as JSON' },
  examples: [
    'carbon-mirror trigger warehouseTransaction --organization ID',
    'carbon-mirror trigger installed --organization ID --bad-signature',
  ],
  run: async (context, given) => {
    const { io, format, printJson, printLines, printNotice } = context;
    const { event, badSignature: isForged } = given;
    const { webhookSecrets, appId, host, port, headerPrefix } = await readSettings(
      context.findMirror().env,
      'receive',
    );
    const installation = await findInstallationOfOrganization(await context.openReader(), given.organization);
    const { body, signedData } = createDelivery(event, installation, appId, io.now());
    const url = requireLoopbackUrl('--url', given.url ?? formatReceiverUrl(host, port));
    const signature = signDelivery(signedData, isForged ? randomUUID() : (webhookSecrets[0] ?? ''));
    const signatureHeader = { [`x-${headerPrefix}-signature-256`]: signature };
    const status = await postWebhook(url, signatureHeader, body);
    const { id } = installation;
    if (format === 'json') await printJson({ event, installation: id, url, status });
    else await printLines(`${status}  ${event} of installation ${id} to ${url}`);
    printNotice(describeAnswer(status, isForged, given.url === undefined));
  },
});

const ADVICE: Readonly<Record<number, string>> = {
  401: 'The receiver uses another secret. Compare WEBHOOK_SECRETS here with the receiver.',
  404: 'The receiver listens at /webhooks. Give the full URL with --url.',
  503: 'The receiver could not store it. Check its log, the disk, and which process locks inbox.db.',
};

/** Describes the receiver's answer to a test webhook. Throws unless it rejected a forged webhook or accepted a genuine one. */
function describeAnswer(status: number, isForged: boolean, isOwnReceiver: boolean): string {
  const lowest = isForged ? 400 : 200;
  const isExpected = status >= lowest && status < lowest + 100;
  if (isExpected && isForged)
    return `Rejected, as expected.${isOwnReceiver ? ' See "carbon-mirror deliveries rejected".' : ''}`;
  if (isExpected)
    return `Accepted.${isOwnReceiver ? ' Follow it with "carbon-mirror deliveries list".' : ''}`;
  throw createCheckError(
    `Expected status ${lowest} to ${lowest + 99} for the ${isForged ? 'forged delivery' : 'delivery'}, got ${status}.`,
    isForged && status < 300
      ? 'The server at that URL does not check signatures.'
      : (ADVICE[status] ?? "See the receiver's log."),
  );
}

/**
 * Creates the JSON body of a test webhook. Also returns `signedData`: the base64 text in the body, over which the sender computes the
 * signature.
 */
function createDelivery(
  event: string,
  { id, organizationId, document }: Awaited<ReturnType<typeof findInstallationOfOrganization>>,
  appId: string,
  now: number,
) {
  const at = new Date(now).toISOString();
  const mirrored: unknown = findExceededLimit(document) === null ? JSON.parse(document) : {};
  const defaults = { id, appId, createdAt: at, updatedAt: at, permissions: { organization_info: 'VIEW' } };
  const installation = {
    ...defaults,
    organization: { id: organizationId },
    ...(isObject(mirrored) && mirrored),
  };
  const signedData = Buffer.from(JSON.stringify({ event, installation })).toString('base64');
  return { body: JSON.stringify({ event, installation, signedData }), signedData };
}

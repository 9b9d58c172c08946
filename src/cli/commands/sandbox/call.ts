import { escapeJson } from '../../output/output.js';
import { command } from '../../command.js';
import { usageFault } from '../../exit.js';
import { emit } from '../../io.js';
import { choice, needed, text, valued } from '../../options.js';
import { reachSandbox, SANDBOX_URL } from './reach.js';

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

export const CALL = command({
  says: 'Make one call of the control API: what people do at a registry, and what only a sandbox can',
  words: {
    method: needed(choice('method', 'what to do with it', METHODS)),
    path: needed(text('path', 'what stands after /_sandbox in docs/client-and-sandbox.md')),
  },
  options: { data: valued('json', 'the body', readJson), url: SANDBOX_URL },
  examples: [
    'carbon-mirror sandbox call GET /organizations',
    `carbon-mirror sandbox call POST /installations --data '{"appId":"ID","organizationId":"ID"}'`,
    'carbon-mirror sandbox call POST /installations/ID/suspend',
    `carbon-mirror sandbox call PATCH /webhooks --data '{"drop":1}'`,
    `carbon-mirror sandbox call POST /clock --data '{"moveMs":600000}'`,
    `carbon-mirror sandbox call POST /faults --data '{"kind":"status","options":{"status":503},"count":3}'`,
  ],
  run: async (context, { method, path, data, url }) => {
    if (!path.startsWith('/')) throw usageFault(`Expected a path such as /organizations, got "${path}".`);
    const answer = await reachSandbox(context, url).control(method, path, data);
    await emit(context.io, `${escapeJson(JSON.stringify(answer, null, 2))}\n`);
  },
});

function readJson(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    throw usageFault(`--data: expected JSON, got "${said}".`);
  }
}

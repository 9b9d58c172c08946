import { createPrivateKey } from 'node:crypto';
import type { HttpOptions } from '../../src/registry/calls.js';
import { createHttp } from '../../src/registry/http.js';
import type { Sandbox } from '../../src/sandbox/start.js';
import { type Clients, createClients } from '../../src/sync/clients.js';
import type { TestApp } from './sandbox.js';

/** Clients of a sandbox, by its clock, without a limit of calls. */
export function clientsOf(sandbox: Sandbox, app: TestApp, options: Partial<HttpOptions> = {}): Clients {
  const now = () => sandbox.registry.store.clock.now();
  const http = createHttp({
    baseUrl: sandbox.url,
    requestsPerSecond: Infinity,
    burst: Infinity,
    attempts: 1,
    now,
    random: Math.random,
    ...options,
  });
  return createClients({ http, appId: app.id, privateKey: createPrivateKey(app.privateKey), now });
}

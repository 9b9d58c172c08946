import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../../../src/app/operations/metrics.js';
import { createOperationsApp, type OperationsOptions } from '../../../src/app/operations/operations.js';
import { isLoopbackHost } from '../../../src/text/loopback.js';
import { type HttpListener, listenForPeople } from '../../../src/webhook/http-listener.js';
import { sendAndReadAll } from '../../support/wire.js';

const EVENTS = ['installed', 'uninstalled'];
let listener: HttpListener | undefined;

async function start(options: Partial<OperationsOptions> = {}, host = '127.0.0.1'): Promise<string> {
  const app = createOperationsApp({
    live: {},
    ready: {},
    metrics: createMetrics(EVENTS),
    isOnLoopback: () => isLoopbackHost(listener?.address ?? ''),
    ...options,
  });
  listener = await listenForPeople(app, { host, port: 0 });
  return `http://127.0.0.1:${listener.port}`;
}

afterEach(async () => {
  await listener?.close();
  listener = undefined;
});

async function get(url: string, method = 'GET') {
  const response = await fetch(url, { method });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    headers: response.headers,
    text,
  };
}

describe('/livez and /readyz', () => {
  test('answer 200 if every check passes', async () => {
    const url = await start({
      live: { loop: () => null },
      ready: { inbox: () => null, disk: async () => null },
    });
    expect(await get(`${url}/livez`)).toMatchObject({
      status: 200,
      text: '{"status":"ok","checks":{"loop":"ok"}}',
    });
    const ready = await get(`${url}/readyz`);
    expect(JSON.parse(ready.text)).toEqual({ status: 'ok', checks: { inbox: 'ok', disk: 'ok' } });
    expect(ready.headers.get('cache-control')).toBe('no-store');
    expect(ready.headers.get('x-powered-by')).toBeNull();
  });

  test('answer 503 with the failed check, and 200 once it passes again', async () => {
    const wrong = new Map([['disk', '12 MB free of 100 MB wanted']]);
    const url = await start({ ready: { inbox: () => null, disk: () => wrong.get('disk') ?? null } });
    const answer = await get(`${url}/readyz`);
    expect(answer).toMatchObject({ status: 503, type: 'application/problem+json' });
    expect(JSON.parse(answer.text)).toEqual({
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      detail: 'disk: 12 MB free of 100 MB wanted',
      checks: { inbox: 'ok', disk: '12 MB free of 100 MB wanted' },
    });
    expect((await get(`${url}/livez`)).status).toBe(200);
    wrong.clear();
    expect((await get(`${url}/readyz`)).status).toBe(200);
  });

  test('T69 do not show the error that a check threw', async () => {
    const fail = (): never => {
      throw new Error('/srv/secret/inbox.db crs_0123456789');
    };
    const url = await start({ ready: { inbox: fail, disk: async () => fail() } });
    const { status, text } = await get(`${url}/readyz`);
    expect(status).toBe(503);
    expect(JSON.parse(text).checks).toEqual({ inbox: 'failed', disk: 'failed' });
    expect(text).not.toContain('secret');
  });

  test('do not wait for a check that never answers', async () => {
    const url = await start({ ready: { inbox: () => new Promise(() => {}) }, deadlineMs: 10 });
    expect(JSON.parse((await get(`${url}/readyz`)).text).checks).toEqual({ inbox: 'no answer in time' });
  });
});

test('T16 another method is answered 405 with Allow, and another path 404, both as problem documents', async () => {
  const url = await start();
  for (const path of ['livez', 'readyz', 'metrics']) {
    const refused = await get(`${url}/${path}`, 'POST');
    expect(refused).toMatchObject({ status: 405, type: 'application/problem+json' });
    expect(refused.headers.get('allow')).toBe('GET, HEAD');
    expect((await get(`${url}/${path}`, 'HEAD')).status).toBe(200);
  }
  for (const path of ['', 'webhooks', 'metrics/x', '%00']) {
    expect(await get(`${url}/${path}`)).toMatchObject({ status: 404, type: 'application/problem+json' });
  }
});

test('a path that cannot be decoded is answered without a stack trace', async () => {
  const url = await start();
  const { status, text } = await get(`${url}/%ff`);
  expect(status).toBeLessThan(500);
  expect(text).not.toContain('at ');
});

test('T87 concurrent requests for metrics share one rendering', async () => {
  let [requests, reads] = [0, 0];
  let finish: (text: string) => void = () => undefined;
  const text = () => {
    reads += 1;
    return new Promise<string>(resolve => {
      finish = resolve;
    });
  };
  const onLoopback = () => {
    requests += 1;
    return true;
  };
  const url = await start({
    metrics: { renderText: text, contentType: 'text/plain' },
    isOnLoopback: onLoopback,
  });
  const answers = Promise.all(Array.from({ length: 20 }, () => get(`${url}/metrics`)));
  await expect.poll(() => requests).toBe(20);
  finish('enough');
  expect((await answers).map(answer => answer.text)).toEqual(Array.from({ length: 20 }, () => 'enough'));
  expect(reads).toBe(1);
});

describe('T78 the operations listener', () => {
  const PATHS = ['livez', 'readyz', 'metrics', 'nothing'];

  /** Sends a request with headers that `fetch` does not allow. */
  async function call(url: string, headers: Record<string, string>) {
    const answer = await new Promise<{ status: number | undefined; type: string | undefined; text: string }>(
      (resolve, reject) => {
        const sent = request(url, { headers, agent: false }, response => {
          const parts: Buffer[] = [];
          response.on('data', part => parts.push(part));
          response.on('end', () => {
            const { statusCode: status, headers: came } = response;
            resolve({ status, type: came['content-type'], text: Buffer.concat(parts).toString() });
          });
        });
        sent.on('error', reject).end();
      },
    );
    return answer;
  }

  test.each([
    'attacker.example',
    'attacker.example:8081',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'attacker.example:127.0.0.1',
    '128.0.0.1',
    '[::2]:8081',
    '.',
  ])('refuses the host name "%s" on loopback', async host => {
    const url = await start({ ready: { inbox: () => 'our own text' } });
    for (const path of PATHS) {
      const { status, type, text } = await call(`${url}/${path}`, { host });
      expect({ status, type }).toEqual({ status: 421, type: 'application/problem+json' });
      expect(JSON.parse(text).detail).toContain('OPERATIONS_HOST');
      expect(text).not.toContain('our own text');
    }
  });

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '127.8.9.10:8081', '[::1]', '[::1]:8081'])(
    'accepts the host name %s on loopback',
    async host => {
      const url = await start();
      expect(await call(`${url}/metrics`, { host })).toMatchObject({ status: 200 });
      const sameSite = { host, 'sec-fetch-site': 'same-origin' };
      expect(await call(`${url}/metrics`, sameSite)).toMatchObject({ status: 200 });
    },
  );

  test('accepts a probe that sends no Host', async () => {
    await start();
    const answer = await sendAndReadAll(listener?.port ?? 0, 'GET /livez HTTP/1.0\r\n\r\n');
    expect(answer).toContain(' 200 OK');
  });

  test.each(['127.0.0.1', '0.0.0.0'])('on %s refuses cross-site requests of browsers', async host => {
    const url = await start({}, host);
    for (const path of PATHS) {
      const { status, type, text } = await call(`${url}/${path}`, { 'sec-fetch-site': 'cross-site' });
      expect({ status, type }).toEqual({ status: 403, type: 'application/problem+json' });
      expect(JSON.parse(text).detail).toContain('another site');
    }
  });

  test('on all interfaces accepts probes and scrapers under any host name', async () => {
    const url = await start({}, '0.0.0.0');
    for (const host of ['mirror.internal:8081', '10.1.2.3:8081', 'attacker.example']) {
      for (const path of ['livez', 'readyz', 'metrics']) {
        expect(await call(`${url}/${path}`, { host })).toMatchObject({ status: 200 });
      }
    }
  });
});

describe('/metrics', () => {
  async function lines(use: (metrics: ReturnType<typeof createMetrics>) => void): Promise<string[]> {
    const metrics = createMetrics(EVENTS);
    use(metrics);
    const url = await start({ metrics });
    const { status, text, type } = await get(`${url}/metrics`);
    expect(status).toBe(200);
    expect(type).toContain('text/plain; version=0.0.4');
    return text.split('\n');
  }

  test('counts all events of the program in base units', async () => {
    const found = await lines(metrics => {
      metrics.countDelivery('accepted', 'installed', 0);
      metrics.countDelivery('accepted', 'somethingNew', 1);
      metrics.countDelivery('ignored', null, 0);
      metrics.countRejections(401, 'signature_not_valid');
      metrics.countRejections(401, 'no_signature');
      metrics.observeAcceptDuration(0.004);
      metrics.observeCommitSize(7);
      metrics.setWalBytes('inbox', 4096);
      metrics.setJobCounts({ waiting: 3, failed: 1 });
      metrics.countJobRun('found 4');
      metrics.countJobRun('found 5');
      metrics.countJobRun('read in part: retirements failed (503)');
      metrics.countRegistryRequest('/app/installations/:id', 200);
      metrics.countRegistryRequest('/app/installations/:id', null);
      metrics.observeSync('retirements', 'complete', 0.2);
      metrics.countRows('retirements', 'added', 10);
      metrics.countDrift('warehouse', 2);
      metrics.setCertificateCounts({ stored: 5 });
    });
    for (const line of [
      'deliveries_total{verdict="accepted",event="installed"} 1',
      'deliveries_total{verdict="accepted",event="other"} 1',
      'deliveries_total{verdict="ignored",event="none"} 1',
      'deliveries_by_secret_total{secret="0"} 2',
      'deliveries_by_secret_total{secret="1"} 1',
      'rejected_webhooks_total{status="401",reason="signature_not_valid"} 1',
      'rejected_webhooks_total{status="401",reason="no_signature"} 1',
      'accept_duration_seconds_bucket{le="0.005"} 1',
      'commit_deliveries_bucket{le="8"} 1',
      'database_wal_bytes{database="inbox"} 4096',
      'jobs{state="waiting"} 3',
      'jobs{state="failed"} 1',
      'job_runs_total{outcome="found"} 2',
      'job_runs_total{outcome="read in part"} 1',
      'registry_requests_total{route="/app/installations/:id",status="200"} 1',
      'registry_requests_total{route="/app/installations/:id",status="none"} 1',
      'sync_duration_seconds_count{resource="retirements",state="complete"} 1',
      'rows_total{resource="retirements",change="added"} 10',
      'drift_rows_total{resource="warehouse"} 2',
      'certificates{state="stored"} 5',
    ]) {
      expect(found).toContain(`carbon_mirror_${line}`);
    }
    expect(found.some(line => line.startsWith('carbon_mirror_nodejs_eventloop_lag_p99_seconds '))).toBe(true);
    for (const line of found.filter(each => each !== '' && !each.startsWith('#'))) {
      expect(line).toMatch(/^carbon_mirror_/);
    }
  });

  test('does not show a state that no longer exists', async () => {
    const found = await lines(metrics => {
      metrics.setJobCounts({ waiting: 3, failed: 1 });
      metrics.setJobCounts({ waiting: 2 });
    });
    expect(found.filter(line => line.startsWith('carbon_mirror_jobs{'))).toEqual([
      'carbon_mirror_jobs{state="waiting"} 2',
    ]);
  });

  test('limits the number of values of each label', async () => {
    const found = await lines(metrics => {
      for (let i = 0; i < 5000; i += 1) {
        metrics.countDelivery('accepted', `event${i}`, i);
        metrics.countRejections(i, `reason${i}`);
        metrics.countJobRun(`outcome${i}`);
        metrics.countRegistryRequest(`/app/installations/${i}`, i);
        metrics.countRows(`resource${i}`, 'added', 1);
        metrics.countDrift(`resource${i}`, 1);
        metrics.observeSync(`resource${i}`, 'complete', 1);
        metrics.setWalBytes(`database${i}`, 1);
      }
      metrics.setJobCounts({ waiting: 1 });
    });
    expect(found.length).toBeLessThan(4000);
    expect(found).toContain('carbon_mirror_deliveries_total{verdict="accepted",event="other"} 5000');
    expect(found).toContain('carbon_mirror_jobs{state="waiting"} 1');
  });

  test('keeps two sets of metrics in one process separate', async () => {
    const first = createMetrics(EVENTS);
    const second = createMetrics(EVENTS);
    first.countRejections(401, 'no_signature');
    expect(await second.renderText()).not.toContain('rejected_webhooks_total{');
  });

  test('answers 500 if the metrics cannot be read', async () => {
    const url = await start({
      metrics: { renderText: () => Promise.reject(new Error('x')), contentType: 'text/plain' },
    });
    expect(await get(`${url}/metrics`)).toMatchObject({ status: 500, type: 'application/problem+json' });
  });
});

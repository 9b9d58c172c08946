import { expect, test } from 'vitest';
import { startDemoMirror } from '../support/demo-mirror.js';

test('metrics of the worker count calls, reads, rows and certificates', async () => {
  const demo = await startDemoMirror({ operations: true });
  const text = await (await fetch(`http://127.0.0.1:${demo.operationsPort}/metrics`)).text();
  await demo.stop();
  expect(text).toContain('carbon_mirror_certificates{state="stored"} 145');
  expect(text).toMatch(/carbon_mirror_rows_total\{resource="retirements",change="added"\} 150/);
  expect(text).toMatch(/sync_run_duration_seconds_count\{resource="warehouse",state="complete"\} \d+/);
  expect(text).toMatch(
    /registry_requests_total\{route="\/organizations\/:organizationId\/retirements",status="200"\} \d+/,
  );
  expect(text).not.toContain(demo.organizationIds[0]);
});

import { expect, onTestFinished, test } from 'vitest';
import { openConsoleStage } from '../support/console.js';
import { credit } from '../support/mirror/rows.js';

async function subscribeToChanges() {
  const { scene, ...visit } = await openConsoleStage();
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const answer = await fetch(`http://127.0.0.1:${visit.port}/live`, {
    headers: { cookie: visit.cookie },
    signal: gone.signal,
  });
  const told: string[] = [];
  void (async () => {
    for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) told.push(text);
  })().catch(() => undefined);
  return { scene, answer, told: () => told.join('') };
}

test('P14 an open page is notified when a row changes, and not otherwise', async () => {
  const { scene, answer, told } = await subscribeToChanges();
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  await expect.poll(told).toBe('retry: 1000\n\n');
  await scene.read('warehouse', [credit('c-1')]);
  await expect.poll(told).toContain('event: changed');
  const before = told();
  await scene.mirror.checkOrigin({ baseUrl: 'https://registry.example', appId: 'app-1' });
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(told()).toBe(before);
});

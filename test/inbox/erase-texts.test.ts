import { expect, test } from 'vitest';
import { eraseMatchingOrderTexts, eraseMatchingTexts } from '../../src/inbox/erase-texts.js';

/** Creates an inbox of signed texts; each has two deliveries. */
function createInbox(contents: readonly string[]) {
  const texts = new Map(contents.map((content, index) => [index + 1, content]));
  return {
    texts,
    listSignedTexts: (above: number, limit: number) => {
      const rows = [...texts].filter(([id, content]) => id > above && content !== '').slice(0, limit);
      return Promise.resolve(
        rows.map(([id, content]) => ({ id, signedData: Buffer.from(content).toString('base64') })),
      );
    },
    eraseSignedTexts: (ids: readonly number[]) => {
      expect(ids.length).toBeGreaterThan(0);
      for (const id of ids) texts.set(id, '');
      return Promise.resolve(2 * ids.length);
    },
  };
}

test.each([0, 99, 100, 250])('only matching texts among %i others are erased and counted', async others => {
  const inbox = createInbox(['für Zoë', ...Array.from({ length: others }, () => 'für Anna'), 'für Zoë']);
  const forgotten = await eraseMatchingTexts(inbox, content => content.includes('Zoë'));
  expect(forgotten).toEqual({ texts: 2, deliveries: 4 });
  expect([...inbox.texts.values()].filter(text => text !== 'für Anna')).toEqual(['', '']);
});

test('texts are erased in small batches, because the receiver waits for each', async () => {
  const inbox = createInbox(Array.from({ length: 201 }, () => 'für Zoë'));
  const batches: number[] = [];
  const eraseSignedTexts = (ids: readonly number[]): Promise<number> => {
    batches.push(ids.length);
    return inbox.eraseSignedTexts(ids);
  };
  await eraseMatchingTexts({ ...inbox, eraseSignedTexts }, () => true);
  expect(batches).toEqual([100, 100, 1]);
});

test('matching texts are erased in more orders than one batch holds', async () => {
  const empty = { beneficiary: null, reason: null, comment: null, result: null };
  const orders = Array.from({ length: 201 }, (_, index) => ({ id: index + 1, actor: 'Zoë', ...empty }));
  const inbox = {
    listOrderTexts: (above: number, limit: number) =>
      Promise.resolve(orders.filter(({ id }) => id > above).slice(0, limit)),
    eraseOrderTexts: () => Promise.resolve(true),
  };
  const erased = await eraseMatchingOrderTexts(inbox, text => text === 'Zoë');
  expect(erased).toEqual({ erased: 201, waiting: 0 });
});

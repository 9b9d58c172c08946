import { describe, expect, test } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/registry/model.js';
import { RegistryError } from '../../src/registry/errors.js';
import { type Opened, openDelivery, readPayload } from '../../src/webhook/public.js';
import { signDelivery } from '../../src/webhook/signature.js';
import {
  APP_ID,
  installationOf,
  OLD_SECRET,
  payloadOf,
  rawSignedPost,
  SECRET,
  type SignedPost,
  signedPost,
} from '../support/receiver.js';

function open({ body, headers }: SignedPost): Opened {
  const signature = headers['x-registry-signature-256'] ?? null;
  return openDelivery({ body: Buffer.from(body), signature, secrets: [SECRET, OLD_SECRET], appId: APP_ID });
}

function delivered(opened: Opened) {
  if (opened.verdict === 'rejected') throw new Error(`rejected: ${opened.detail}`);
  return opened.delivery;
}

const reasonOf = (signed: unknown) => delivered(open(signedPost(signed, { outer: {} }))).reason;

test('T03 nothing is signed by an empty secret, nor where there is none', () => {
  const { body } = signedPost(payloadOf());
  const { signedData } = JSON.parse(body);
  const signature = signDelivery(signedData, '');
  for (const secrets of [[], [''], ['', SECRET]]) {
    expect(openDelivery({ body: Buffer.from(body), signature, secrets, appId: APP_ID })).toMatchObject({
      verdict: 'rejected',
      status: 401,
    });
  }
});

test('a body that is not UTF-8 is rejected, though what it has signed is good', () => {
  const { body, headers } = signedPost(payloadOf());
  const damaged = Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from(',"note":"\xff"}', 'latin1')]);
  const signature = headers['x-registry-signature-256'] ?? null;
  const given = { signature, secrets: [SECRET], appId: APP_ID };
  expect(openDelivery({ body: damaged, ...given })).toMatchObject({ verdict: 'rejected', status: 400 });
  const whole = Buffer.from(damaged.toString('latin1').replace('\xff', 'y'));
  expect(openDelivery({ body: whole, ...given })).toMatchObject({ verdict: 'accepted' });
});

describe('what a webhook tells', () => {
  test('is read as the client reads it, digits and all', () => {
    const transaction = { id: 'tx 1', creditId: 'exPost-1-0xa', type: 'retire', status: 'processed' };
    const text = JSON.stringify(payloadOf({ transaction })).replace('"tx 1"', '"tx 1","amount":0.10');
    const signedData = Buffer.from(text).toString('base64');
    const payload = readPayload({ signedData });
    expect(payload).toMatchObject({
      event: 'warehouseTransaction',
      installation: { id: 'installation-1', organization: { id: 'organization-1' } },
      transaction: { ...transaction, amount: { exact: '0.10', micro: 100_000n } },
      sender: { id: 'user-1', email: 'ann@example.org' },
      document: text,
    });
  });

  test('is null where it is not told, and a part without its shape is a fault', () => {
    const read = (said: unknown) =>
      readPayload({ signedData: Buffer.from(JSON.stringify(said)).toString('base64') });
    expect(read({ installation: null, sender: 'nobody' })).toMatchObject({
      event: null,
      installation: null,
      transaction: null,
      sender: null,
    });
    expect(() => read({ installation: { id: '../x' } })).toThrow('payload.installation.id: expected an id');
    expect(() => read(7)).toThrow(RegistryError);
  });
});

describe('what is signed', () => {
  test.each(WEBHOOK_EVENTS)('the event %s is accepted with its installation and organization', event => {
    expect(open(signedPost(payloadOf({ event })))).toMatchObject({
      verdict: 'accepted',
      delivery: {
        event,
        installationId: 'installation-1',
        organizationId: 'organization-1',
        contradictedFields: null,
        reason: null,
        secretIndex: 0,
      },
    });
  });

  test('T04 only what was signed counts, and what contradicts it outside is noted', () => {
    const outer = payloadOf({
      event: 'uninstalled',
      installation: installationOf({ id: 'another' }),
      more: 1,
    });
    const delivery = delivered(open(signedPost(payloadOf(), { outer })));
    expect(delivery).toMatchObject({
      event: 'warehouseTransaction',
      installationId: 'installation-1',
      contradictedFields: 'event, installation, more',
    });
  });

  test('T04 a body that says nothing outside contradicts nothing', () => {
    expect(delivered(open(signedPost(payloadOf(), { outer: {} })))).toMatchObject({
      contradictedFields: null,
    });
  });

  test('T04 a hostile outer body is noted in short, plain text', () => {
    const outer = { ...payloadOf(), ['x\0'.repeat(500)]: 1 };
    const { contradictedFields } = delivered(open(signedPost(payloadOf(), { outer })));
    expect(contradictedFields).toMatch(/^x\uFFFDx/);
    expect(contradictedFields?.length).toBe(200);
  });

  test('T69 a credential that stands as a name in the outer body is not stored', () => {
    const outer = { ...payloadOf(), crs_0123456789abcdef: 1 };
    expect(delivered(open(signedPost(payloadOf(), { outer }))).contradictedFields).toBe('[masked]');
  });

  test('T06 the secret that signed it is named', () => {
    expect(delivered(open(signedPost(payloadOf(), { secret: OLD_SECRET }))).secretIndex).toBe(1);
  });
});

describe('T05 a signed text that is no text is rejected with 400', () => {
  test.each([
    '{}',
    '{"signedData":null}',
    '{"signedData":7}',
    '{"signedData":["a"]}',
    '{"signedData":{"a":1}}',
    '{"__proto__":{"signedData":"e30="}}',
    '[]',
    'null',
    '"e30="',
    '',
    '{"signedData":"e30="',
  ])('%s', body => {
    expect(open({ body, headers: {} })).toMatchObject({ verdict: 'rejected', status: 400 });
  });

  test('and is told what was expected of it', () => {
    const toldOf = (body: string) => {
      const opened = open({ body, headers: {} });
      return opened.verdict === 'rejected' && opened.detail;
    };
    expect(['[]', 'null', '{', '{}'].map(toldOf)).toEqual([
      'expected the body to be a JSON object',
      'expected the body to be a JSON object',
      'expected the body to be a JSON object',
      'expected signedData to be a string',
    ]);
  });
});

describe('once the signature is good nothing is rejected', () => {
  test('T10 a delivery for another app is ignored', () => {
    expect(reasonOf(payloadOf({ installation: installationOf({ appId: 'another-app' }) }))).toBe('other_app');
  });

  test.each([
    ['an event that nobody knows', { event: 'somethingNew' }],
    ['no event', { event: undefined }],
    ['a null event', { event: null }],
    ['no sender', { sender: undefined }],
    ['null fields', { sender: null, transaction: null, state: null }],
    ['an installation that names no app', { installation: installationOf({ appId: null }) }],
    ['an installation without organization', { installation: installationOf({ organization: null }) }],
  ])('T11 %s is accepted', (_title, overrides) => {
    expect(reasonOf(payloadOf(overrides))).toBeNull();
  });

  test('T12 an event of any length and any characters is kept in short, plain text', () => {
    const event = `${'a'.repeat(98)}\0${String.fromCharCode(0xd800)}bcd`;
    expect(delivered(open(signedPost(payloadOf({ event })))).event).toBe(`${'a'.repeat(98)}\uFFFD\uFFFD`);
  });

  test.each(['not base64!', 'e30', 'e30=\n', 'e3 0=', '', 'e31='])(
    'T12 %j is ignored: no base64',
    signedData => {
      expect(delivered(open(rawSignedPost(signedData))).reason).toBe('not_base64');
    },
  );

  test('T12 bytes that are no UTF-8 are ignored, and kept', () => {
    const signedData = Buffer.from([0x7b, 0xff, 0x7d]).toString('base64');
    expect(delivered(open(rawSignedPost(signedData)))).toMatchObject({ reason: 'not_utf8', signedData });
  });

  test.each(['{', 'undefined', '\uFEFF{}', '{}{}', "{'a':1}"])('T12 %j is ignored: no JSON', text => {
    expect(reasonOf(text)).toBe('not_json');
  });

  test.each(['[]', 'null', '7', '"text"'])('T12 %s is ignored: no object', text => {
    expect(reasonOf(text)).toBe('not_an_object');
  });

  test('T12 a text nested 20,000 deep is ignored', () => {
    expect(reasonOf(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)).toBe('nested_too_deep');
    expect(reasonOf('{"a":'.repeat(5000) + '1' + '}'.repeat(5000))).toBe('nested_too_deep');
    const [most, more] = [63, 64].map(depth => JSON.parse('['.repeat(depth) + ']'.repeat(depth)));
    expect([payloadOf({ most }), payloadOf({ more })].map(reasonOf)).toEqual([null, 'nested_too_deep']);
  });

  test('T12 keys that reach for a prototype are ignored, and reach nothing', () => {
    const inner = JSON.stringify(payloadOf()).slice(1);
    expect(reasonOf(`{"__proto__":{"polluted":1},${inner}`)).toBe('prototype_key');
    expect(reasonOf(`{"\\u005f_proto__":{"polluted":1},${inner}`)).toBe('prototype_key');
    expect(reasonOf(`{"deep":[{"__proto__":{"polluted":1}}],${inner}`)).toBe('prototype_key');
    expect('polluted' in {}).toBe(false);
    expect(reasonOf(payloadOf({ note: '__proto__', list: ['__proto__'] }))).toBeNull();
  });

  test('T12 a key that stands twice is ignored: two readers could understand two things', () => {
    const inner = JSON.stringify(payloadOf()).slice(1);
    expect(reasonOf(`{"event":"uninstalled",${inner}`)).toBe('duplicate_key');
    expect(reasonOf(`{"\\u0065vent":"uninstalled",${inner}`)).toBe('duplicate_key');
    expect(reasonOf(`{"x":{"a\\\\":1, "a\\\\" : 2},${inner}`)).toBe('duplicate_key');
    expect(
      reasonOf(payloadOf({ x: { event: 1 }, y: [{ a: 1 }, { a: 1 }], z: ['event', 'event'] })),
    ).toBeNull();
    expect(reasonOf(payloadOf({ 'quoted "key" \\': 1, 'quoted "key"': '":{"event":1}' }))).toBeNull();
  });

  test.each([
    '../../x',
    '..',
    '%2e%2e',
    'a/b',
    'a?b',
    'a\0',
    '',
    ' a',
    'a\n',
    'x'.repeat(129),
    7,
    null,
    {},
    ['a'],
  ])('T31 the installation id %j is ignored', id => {
    const delivery = delivered(open(signedPost(payloadOf({ installation: installationOf({ id }) }))));
    expect(delivery).toMatchObject({ reason: 'no_installation_id', installationId: null });
  });

  test('an installation that is named without an object is known too, and its app is looked at', () => {
    const flat = { event: 'suspended', installationId: 'i-1', organizationId: 'o-1' };
    expect(delivered(open(signedPost(flat)))).toMatchObject({
      reason: null,
      installationId: 'i-1',
      organizationId: 'o-1',
    });
    expect(reasonOf({ ...flat, appId: 'another-app' })).toBe('other_app');
    expect(reasonOf({ ...flat, installationId: '../x' })).toBe('no_installation_id');
  });

  test('an organization is known that stands in the installation by its id alone', () => {
    const installation = installationOf({ organization: undefined, organizationId: 'o-2' });
    expect(delivered(open(signedPost(payloadOf({ installation, organizationId: 'o-3' }))))).toMatchObject({
      organizationId: 'o-2',
    });
  });

  test('T31 an organization id that cannot be used is not used', () => {
    const installation = installationOf({ organization: { id: '../x' } });
    expect(delivered(open(signedPost(payloadOf({ installation }))))).toMatchObject({
      verdict: 'accepted',
      organizationId: null,
    });
  });

  test('T31 ids that only a prototype would have are none', () => {
    expect(reasonOf('{"installation":"constructor"}')).toBe('no_installation_id');
    expect(reasonOf('{"event":"installed"}')).toBe('no_installation_id');
  });
});

import { describe, expect, test } from 'vitest';
import { WEBHOOK_EVENTS } from '../../src/registry/object-models.js';
import { RegistryError } from '../../src/registry/errors.js';
import { type OpenedDelivery, openDelivery, readPayload } from '../../src/webhook/public.js';
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

function openSigned({ body, headers }: SignedPost): OpenedDelivery {
  const signature = headers['x-registry-signature-256'] ?? null;
  return openDelivery({ body: Buffer.from(body), signature, secrets: [SECRET, OLD_SECRET], appId: APP_ID });
}

function getDelivery(opened: OpenedDelivery) {
  if (opened.verdict === 'rejected') throw new Error(`rejected: ${opened.detail}`);
  return opened.delivery;
}

const getReason = (signed: unknown) => getDelivery(openSigned(signedPost(signed, { outer: {} }))).reason;

test('T03 an empty secret, or no secret at all, verifies no signature', () => {
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

/** Opens a signed post with other options, as a program without type checks may. */
function openWith(options: object): unknown {
  const { body, headers } = signedPost(payloadOf());
  const signature = headers['x-registry-signature-256'];
  const usable = { body: Buffer.from(body), signature, secrets: [SECRET], appId: APP_ID };
  const open: Function = openDelivery;
  return Reflect.apply(open, undefined, [{ ...usable, ...options }]);
}

test.each([
  ['an empty appId', { appId: '' }, /^appId: expected the id of the app/],
  ['no appId', { appId: undefined }, /^appId: expected the id of the app/],
  [
    'a parsed body',
    { body: { signedData: 'e30=' } },
    /^body: expected the bytes of the post as they arrived/,
  ],
  ['a body as text', { body: '{}' }, /^body: expected the bytes of the post as they arrived/],
  ['secrets as text', { secrets: SECRET }, /^secrets: expected a list of texts/],
  ['no secrets', { secrets: undefined }, /^secrets: expected a list of texts/],
])('openDelivery refuses %s with a sentence', (_name, options, message) => {
  expect(openWith({})).toMatchObject({ verdict: 'accepted' });
  expect(() => openWith(options)).toThrow(expect.objectContaining({ name: 'TypeError' }));
  expect(() => openWith(options)).toThrow(message);
});

test.each([
  [null, 'the signature is not valid'],
  [undefined, 'there is no signature header with this name'],
])('a webhook with the signature %s is rejected', (signature, detail) => {
  expect(openWith({ signature })).toMatchObject({ verdict: 'rejected', status: 401, detail });
});

test('a body that is not UTF-8 is rejected, even with a valid signature', () => {
  const { body, headers } = signedPost(payloadOf());
  const damaged = Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from(',"note":"\xff"}', 'latin1')]);
  const signature = headers['x-registry-signature-256'] ?? null;
  const options = { signature, secrets: [SECRET], appId: APP_ID };
  expect(openDelivery({ body: damaged, ...options })).toMatchObject({ verdict: 'rejected', status: 400 });
  const whole = Buffer.from(damaged.toString('latin1').replace('\xff', 'y'));
  expect(openDelivery({ body: whole, ...options })).toMatchObject({ verdict: 'accepted' });
});

describe('the payload of a webhook', () => {
  test('is parsed as the client parses answers, with exact digits', () => {
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

  test('has null for missing members, and a member of the wrong shape is a fault', () => {
    const read = (payload: unknown) =>
      readPayload({ signedData: Buffer.from(JSON.stringify(payload)).toString('base64') });
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

describe('signed content', () => {
  test.each(WEBHOOK_EVENTS)('with the event %s is accepted with its installation and organization', event => {
    expect(openSigned(signedPost(payloadOf({ event })))).toMatchObject({
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

  test('T04 is the only content that counts, and contradicting unsigned fields are recorded', () => {
    const outer = payloadOf({
      event: 'uninstalled',
      installation: installationOf({ id: 'another' }),
      more: 1,
    });
    const delivery = getDelivery(openSigned(signedPost(payloadOf(), { outer })));
    expect(delivery).toMatchObject({
      event: 'warehouseTransaction',
      installationId: 'installation-1',
      contradictedFields: 'event, installation, more',
    });
  });

  test('T04 is contradicted by nothing if there are no unsigned fields', () => {
    expect(getDelivery(openSigned(signedPost(payloadOf(), { outer: {} })))).toMatchObject({
      contradictedFields: null,
    });
  });

  test('T04 has its contradicted fields recorded as short, plain text', () => {
    const outer = { ...payloadOf(), ['x\0'.repeat(500)]: 1 };
    const { contradictedFields } = getDelivery(openSigned(signedPost(payloadOf(), { outer })));
    expect(contradictedFields).toMatch(/^x\uFFFDx/);
    expect(contradictedFields?.length).toBe(200);
  });

  test('T69 has a credential in the name of an unsigned field masked', () => {
    const outer = { ...payloadOf(), crs_0123456789abcdef: 1 };
    expect(getDelivery(openSigned(signedPost(payloadOf(), { outer }))).contradictedFields).toBe('[masked]');
  });

  test('T06 is attributed to the secret that signed it', () => {
    expect(getDelivery(openSigned(signedPost(payloadOf(), { secret: OLD_SECRET }))).secretIndex).toBe(1);
  });
});

describe('T05 a body without a signed text is rejected with 400', () => {
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
    expect(openSigned({ body, headers: {} })).toMatchObject({ verdict: 'rejected', status: 400 });
  });

  test('and the detail says what was expected', () => {
    const getDetail = (body: string) => {
      const opened = openSigned({ body, headers: {} });
      return opened.verdict === 'rejected' && opened.detail;
    };
    expect(['[]', 'null', '{', '{}'].map(getDetail)).toEqual([
      'expected the body to be a JSON object',
      'expected the body to be a JSON object',
      'expected the body to be a JSON object',
      'expected signedData to be a string',
    ]);
  });
});

describe('a delivery with a valid signature is never rejected', () => {
  test('T10 a delivery for another app is ignored', () => {
    expect(getReason(payloadOf({ installation: installationOf({ appId: 'another-app' }) }))).toBe(
      'other_app',
    );
  });

  test.each([
    ['an unknown event', { event: 'somethingNew' }],
    ['no event', { event: undefined }],
    ['a null event', { event: null }],
    ['no sender', { sender: undefined }],
    ['null fields', { sender: null, transaction: null, state: null }],
    ['an installation that names no app', { installation: installationOf({ appId: null }) }],
    ['an installation without organization', { installation: installationOf({ organization: null }) }],
  ])('T11 %s is accepted', (_title, overrides) => {
    expect(getReason(payloadOf(overrides))).toBeNull();
  });

  test('T12 an event name of any length and any characters is stored as short, plain text', () => {
    const event = `${'a'.repeat(98)}\0${String.fromCharCode(0xd800)}bcd`;
    expect(getDelivery(openSigned(signedPost(payloadOf({ event })))).event).toBe(
      `${'a'.repeat(98)}\uFFFD\uFFFD`,
    );
  });

  test.each(['not base64!', 'e30', 'e30=\n', 'e3 0=', '', 'e31='])(
    'T12 %j is ignored because it is not base64',
    signedData => {
      expect(getDelivery(openSigned(rawSignedPost(signedData))).reason).toBe('not_base64');
    },
  );

  test('T12 bytes that are not UTF-8 are ignored, and stored', () => {
    const signedData = Buffer.from([0x7b, 0xff, 0x7d]).toString('base64');
    expect(getDelivery(openSigned(rawSignedPost(signedData)))).toMatchObject({
      reason: 'not_utf8',
      signedData,
    });
  });

  test.each(['{', 'undefined', '\uFEFF{}', '{}{}', "{'a':1}"])(
    'T12 %j is ignored because it is not JSON',
    text => {
      expect(getReason(text)).toBe('not_json');
    },
  );

  test.each(['[]', 'null', '7', '"text"'])('T12 %s is ignored because it is not an object', text => {
    expect(getReason(text)).toBe('not_an_object');
  });

  test('T12 a text nested 20,000 deep is ignored', () => {
    expect(getReason(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)).toBe('nested_too_deep');
    expect(getReason('{"a":'.repeat(5000) + '1' + '}'.repeat(5000))).toBe('nested_too_deep');
    const [deepest, tooDeep] = [63, 64].map(depth => JSON.parse('['.repeat(depth) + ']'.repeat(depth)));
    expect([payloadOf({ deepest }), payloadOf({ tooDeep })].map(getReason)).toEqual([
      null,
      'nested_too_deep',
    ]);
  });

  test('T12 a key that could change a prototype is ignored, and changes none', () => {
    const inner = JSON.stringify(payloadOf()).slice(1);
    expect(getReason(`{"__proto__":{"polluted":1},${inner}`)).toBe('prototype_key');
    expect(getReason(`{"\\u005f_proto__":{"polluted":1},${inner}`)).toBe('prototype_key');
    expect(getReason(`{"deep":[{"__proto__":{"polluted":1}}],${inner}`)).toBe('prototype_key');
    expect('polluted' in {}).toBe(false);
    expect(getReason(payloadOf({ note: '__proto__', list: ['__proto__'] }))).toBeNull();
  });

  test('T12 a duplicate key is ignored, because two parsers could read it differently', () => {
    const inner = JSON.stringify(payloadOf()).slice(1);
    expect(getReason(`{"event":"uninstalled",${inner}`)).toBe('duplicate_key');
    expect(getReason(`{"\\u0065vent":"uninstalled",${inner}`)).toBe('duplicate_key');
    expect(getReason(`{"x":{"a\\\\":1, "a\\\\" : 2},${inner}`)).toBe('duplicate_key');
    expect(
      getReason(payloadOf({ x: { event: 1 }, y: [{ a: 1 }, { a: 1 }], z: ['event', 'event'] })),
    ).toBeNull();
    expect(getReason(payloadOf({ 'quoted "key" \\': 1, 'quoted "key"': '":{"event":1}' }))).toBeNull();
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
    const delivery = getDelivery(openSigned(signedPost(payloadOf({ installation: installationOf({ id }) }))));
    expect(delivery).toMatchObject({ reason: 'no_installation_id', installationId: null });
  });

  test('flat ids instead of an installation object are accepted, and the app is checked', () => {
    const flat = { event: 'suspended', installationId: 'i-1', organizationId: 'o-1' };
    expect(getDelivery(openSigned(signedPost(flat)))).toMatchObject({
      reason: null,
      installationId: 'i-1',
      organizationId: 'o-1',
    });
    expect(getReason({ ...flat, appId: 'another-app' })).toBe('other_app');
    expect(getReason({ ...flat, installationId: '../x' })).toBe('no_installation_id');
  });

  test('an organization id without an organization object is accepted', () => {
    const installation = installationOf({ organization: undefined, organizationId: 'o-2' });
    expect(
      getDelivery(openSigned(signedPost(payloadOf({ installation, organizationId: 'o-3' })))),
    ).toMatchObject({
      organizationId: 'o-2',
    });
  });

  test('T31 an invalid organization id is dropped', () => {
    const installation = installationOf({ organization: { id: '../x' } });
    expect(getDelivery(openSigned(signedPost(payloadOf({ installation }))))).toMatchObject({
      verdict: 'accepted',
      organizationId: null,
    });
  });

  test('T31 members of a prototype are not taken for ids', () => {
    expect(getReason('{"installation":"constructor"}')).toBe('no_installation_id');
    expect(getReason('{"event":"installed"}')).toBe('no_installation_id');
  });
});

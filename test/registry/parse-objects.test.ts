import { describe, expect, test } from 'vitest';
import { parsePage } from '../../src/registry/pages/parse-page.js';
import { getObjectField, parseObject, parseWrappedObject } from '../../src/registry/json/json-object.js';
import {
  parseAddress,
  parseCredit,
  parseInstallation,
  parseInventoryRequest,
  parseMember,
  parseOrganization,
  parseProject,
  parseReservation,
  parseRetirement,
  parseAccessToken,
} from '../../src/registry/json/parse-objects.js';
import { parsePayload } from '../../src/registry/json/parse-payload.js';
import { decodeBody } from '../../src/registry/pages/single-response.js';

const toObject = (value: unknown) =>
  parseObject(typeof value === 'string' ? value : JSON.stringify(value), 'x');

test.each([
  ['', 'JSON, got nothing'],
  ['none at all', 'JSON, got 11 characters that are not complete JSON'],
  ['<!doctype html><title>Welcome</title>', 'JSON, got an HTML page'],
  ['null', 'an object, got null'],
  ['[]', 'an object, got an array'],
  ['3', 'an object, got number'],
])('text that is not an object is refused with a description of it: %j', (text, told) => {
  expect(() => parseObject(text, 'x')).toThrow(`x: expected ${told}`);
  expect(() => parsePayload(text)).toThrow(`payload: expected ${told}`);
});

test('a text may have at most 64 levels and 100,000 objects and arrays', () => {
  const many = (objects: number) => () => toObject(`{"x":[${'{},'.repeat(objects - 3)}{}]}`);
  expect(many(100_000)).not.toThrow();
  expect(many(100_001)).toThrow('100000 objects');
  const siblings = '[],'.repeat(100);
  const deep = (levels: number) => () =>
    toObject(`{"x":[${siblings}${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}]}`);
  expect(deep(64)).not.toThrow();
  expect(deep(65)).toThrow('64 levels');
});

test('a nested object has its own text, whatever is around it', () => {
  const source = toObject(' { "a" : "\\\\" , "b" : {"c":1.10} } ');
  expect(getObjectField(source, 'b')).toMatchObject({ label: 'x.b', text: '{"c":1.10}' });
  expect(getObjectField(source, 'a')).toBeNull();
});

test('a time with other text around it is not read, and the machine’s time zone has no effect', () => {
  const instants = () =>
    ['2025-01-31T12:00:00.000Z', '2025-01-31 12:00', 'x2025-01-31', '2025-01-31T12:00:00.000Zx', ''].map(
      createdAt => parseRetirement(toObject({ id: 'r', createdAt })).createdAt,
    );
  const zone = process.env['TZ'];
  try {
    for (const TZ of ['UTC', 'America/New_York']) {
      process.env['TZ'] = TZ;
      const noon = '2025-01-31T12:00:00.000Z';
      expect(instants()).toEqual([noon, noon, null, null, null]);
    }
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});

/** The parser of each kind of object, and the fields without which it refuses one. */
const KINDS = {
  address: { parse: parseAddress, needed: {} },
  credit: { parse: parseCredit, needed: { id: 'c' } },
  installation: { parse: parseInstallation, needed: { id: 'i' } },
  member: { parse: parseMember, needed: { id: 'm' } },
  organization: { parse: parseOrganization, needed: { id: 'o' } },
  project: { parse: parseProject, needed: {} },
  request: { parse: parseInventoryRequest, needed: { id: 'q', creditId: 'c', amount: 1 } },
  retirement: { parse: parseRetirement, needed: { id: 'r' } },
} as const;

describe('fields with several names or forms', () => {
  const project = { id: 'p', fullName: 'Peat bog' };
  const organization = { id: 'o', name: 'N', organizationIndustries: 5 };
  const dates = { createdAt: '2026-01-02T03:04:05.000Z', updatedAt: '2026-02-03T04:05:06.000Z' };
  const place = { city: 'Akureyri', zip: '600', physicalAddress: 'Harbour 1', registrationNumber: '540-7' };

  test.each<[keyof typeof KINDS, object, object]>([
    ['retirement', { project: { _id: 'p', name: 'Peat bog' } }, { project }],
    ['retirement', { project: { projectId: 'p', fullName: 'Peat bog', name: 'M' } }, { project }],
    ['retirement', { projectId: 'p', projectName: 'Peat bog' }, { project }],
    ['retirement', { projectName: 'Peat bog' }, { project: null }],
    ['retirement', { beneficiaryName: 'B' }, { beneficiary: 'B' }],
    ['retirement', { beneficiary: 'B' }, { beneficiary: 'B' }],
    ['retirement', { organizationOwner: { id: 'o' } }, { organizationId: 'o' }],
    // The registry has sent a pagination in place of the owner.
    ['retirement', { organizationOwner: { total: 5 } }, { organizationId: null }],
    ['retirement', { organizationId: 'o' }, { organizationId: 'o' }],
    ['organization', { name: 'N' }, { fullName: 'N' }],
    ['organization', { name: 'N', fullName: 'F' }, { fullName: 'F' }],
    ['organization', { name: 'N', fullName: null }, { fullName: 'N' }],
    ['organization', { ...place, logo: 'undefined/logo.png' }, { ...place, logo: 'undefined/logo.png' }],
    ['organization', { logo: null, zip: 600 }, { logo: null, zip: '600' }],
    ['credit', { id: 'exPost-2-0xabc', type: 'ExPost' }, { creditId: 'exPost-2-0xabc', type: 'ExPost' }],
    ['credit', { tokenId: 2, vintage: 2021 }, { tokenId: '2', vintage: '2021', supply: null, project: null }],
    ['credit', { creditId: 'b' }, { creditId: 'b' }],
    ['credit', { supply: 1000 }, { supply: { exact: '1000', micro: 1_000_000_000n } }],
    ['credit', { project, projectId: 'q' }, { project }],
    ['credit', { projectId: 'q' }, { project: { id: 'q', fullName: null } }],
    ['credit', { project: { projectId: 'q' } }, { project: { id: 'q' } }],
    ['project', { projectId: 'p', fullName: 'Peat bog' }, project],
    ['project', { _id: 'p', num: 713, location: null }, { id: 'p', num: '713', fullName: null }],
    ['project', { id: 'p', projectStatus: { id: 1, title: 'Validated' } }, { status: 'Validated' }],
    ['project', { id: 'p', type: { id: 'removal', title: 'Removal' } }, { type: 'removal' }],
    ['project', { id: 'p', num: '713', type: { title: 'T' } }, { num: '713', type: 'T' }],
    ['project', { id: 'p', sector: { id: 14, title: 'Forestry' } }, { sector: 'Forestry' }],
    ['project', { id: 'p', methodology: 'AMS-I.D' }, { methodology: 'AMS-I.D' }],
    ['address', { publicKey: '0xabc' }, { address: '0xabc' }],
    ['address', { publicKey: '0xabc', address: '0xabd' }, { address: '0xabd' }],
    ['member', { name: 'Ása', email: 'a@b.is' }, { id: 'm', fullName: 'Ása' }],
    ['request', { beneficiary: 'B' }, { beneficiary: 'B' }],
    [
      'request',
      { retirementData: { beneficiaryName: 'B', reason: 'R' } },
      { beneficiary: 'B', retirementReason: 'R' },
    ],
    ['request', { retirementData: { comment: 'C' } }, { retirementComment: 'C' }],
    ['installation', { organization }, { organizationId: 'o', permissions: null }],
    [
      'installation',
      { organization },
      { organization: { fullName: 'N', document: JSON.stringify(organization) } },
    ],
    [
      'installation',
      { organizationId: 'o', ...dates },
      { organizationId: 'o', organization: null, ...dates },
    ],
  ])('the %s %j is read as %o', (kind, sent, expected) => {
    const { parse, needed } = KINDS[kind];
    expect(parse(toObject({ ...needed, ...sent }))).toMatchObject(expected);
  });

  test('a supply keeps its notation', () => {
    expect(parseCredit(toObject('{"id":"c","amount":1,"supply":1e3}')).supply).toMatchObject({
      exact: '1e3',
      micro: 1_000_000_000n,
    });
  });

  test('a single object may be wrapped in its own name', () => {
    const wrapped = parseWrappedObject('{"retirement":{"id":"r","amount":1.0}}', 'retirement');
    expect(parseRetirement(wrapped)).toMatchObject({ id: 'r', document: '{"id":"r","amount":1.0}' });
    expect(parseRetirement(parseWrappedObject('{"id":"r","retirement":{"id":"s"}}', 'retirement')).id).toBe(
      'r',
    );
  });

  const GRANTED = {
    organization_info: 'VIEW',
    organization_warehouse: 'WRITE',
    organization_inventory: 'REQUEST',
  };

  test.each([
    ['an object', GRANTED],
    [
      'an object of the words of the endpoints',
      {
        organization_info: 'read',
        organization_warehouse: ['read', 'write'],
        organization_inventory: 'read_request',
      },
    ],
    [
      'a list of the words of the endpoints',
      [
        'organization_info:read',
        'organization_warehouse:write',
        'organization_warehouse:read',
        'organization_inventory:read',
        'organization_inventory:read_request',
      ],
    ],
    [
      'a list of names and levels',
      ['organization_info:VIEW', 'organization_warehouse:WRITE', 'organization_inventory:REQUEST', 'odd', 5],
    ],
    [
      'a list of objects',
      [
        { name: 'organization_info', level: 'VIEW' },
        { permission: 'organization_warehouse', access: 'write' },
        { name: 'organization_inventory:read_request' },
        { odd: true },
      ],
    ],
  ])('permissions may be sent as %s', (_form, permissions) => {
    expect(parseInstallation(toObject({ id: 'i', permissions })).permissions).toEqual(GRANTED);
    const token = JSON.stringify({ token: 'crs_1', permissions });
    expect(parseAccessToken(token).permissions).toEqual(GRANTED);
  });

  test.each([
    undefined,
    null,
    {},
    [],
    'all',
    5,
    { organization_info: 7 },
    ['everything'],
    ['a:b:c', null, 7],
  ])('permissions that are sent as %j are null, not empty', permissions => {
    expect(parseInstallation(toObject({ id: 'i', permissions })).permissions).toBeNull();
  });

  test('a level may be named as by the endpoints', () => {
    const permissions = ['organization_warehouse:read_write', 'organization_info:read'];
    expect(parseInstallation(toObject({ id: 'i', permissions })).permissions).toEqual({
      organization_warehouse: 'WRITE',
      organization_info: 'VIEW',
    });
  });

  test('an address that is sent without an id gets a stable one', () => {
    const address = parseAddress(toObject({ address: '0xabc' }));
    expect(address.id).toMatch(/^[0-9a-f]{32}$/);
    expect(parseAddress(toObject({ address: '0xabc' })).id).toBe(address.id);
    expect(parseAddress(toObject({ address: '0xabd' })).id).not.toBe(address.id);
  });
});

describe('T35 a row without content', () => {
  test.each([
    {},
    { id: 'm' },
    { id: 'm', fullName: '', email: ' ' },
    { id: 'm', email: null },
    { email: {} },
  ])('is a bad answer as the member %j', row => {
    expect(() => parseMember(toObject(row))).toThrow(
      expect.objectContaining({
        code: 'bad_answer',
        message: expect.stringContaining('a name or an email address'),
      }),
    );
  });

  test.each([{}, { id: 'a', name: 'Default' }, { address: '' }, { address: null }])(
    'is a bad answer as the address %j',
    row => {
      expect(() => parseAddress(toObject(row))).toThrow(
        expect.objectContaining({ code: 'bad_answer', message: expect.stringContaining('an address') }),
      );
    },
  );

  test('is told apart from a member that has only a name or an email address', () => {
    expect(parseMember(toObject({ id: 'm', name: 'Ada' }))).toMatchObject({ fullName: 'Ada', email: null });
    expect(parseMember(toObject({ id: 'm', email: 'a@b.is' }))).toMatchObject({ fullName: null });
  });
});

describe('unknown additions of the registry', () => {
  test('are kept if they are fields or levels', () => {
    const text =
      '{"id":"i","permissions":{"examiner":"ADMIN","organization_info":"VIEW","odd":5},"new":1.10}';
    const installation = parseInstallation(toObject(text));
    expect(installation.permissions).toEqual({ examiner: 'ADMIN', organization_info: 'VIEW' });
    expect(installation.document).toBe(text);
  });

  test('are kept if they are states, but not if they are known fields with another type', () => {
    const reservation = {
      id: 'r',
      creditId: 'c',
      amount: 1,
      state: 'Thinking',
      isComplete: 'no',
      createdAt: 5,
    };
    expect(parseReservation(toObject(reservation))).toMatchObject({
      state: 'Thinking',
      isComplete: null,
      createdAt: null,
    });
    expect(
      parseReservation(toObject({ id: 'r', creditId: 'c', reserver: { id: 'app', name: undefined } })),
    ).toMatchObject({
      reserverId: 'app',
      reserverName: null,
      amount: { fault: 'absent' },
    });
  });

  test('T47 are a bad answer if they are nested deeper than a delivery may be', () => {
    const object = (levels: number) =>
      `{"id":"o","name":"[[[\\"{","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(parseOrganization(toObject(object(63))).id).toBe('o');
    expect(() => toObject(object(64))).toThrow(
      expect.objectContaining({ code: 'bad_answer', message: expect.stringContaining('64 levels') }),
    );
  });

  test('T12 do no harm if they are deep or hostile members', () => {
    const deep = `${'['.repeat(60)}${']'.repeat(60)}`;
    const text = `{"id":"o","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"deep":${deep}}`;
    const organization = parseOrganization(toObject(text));
    expect(organization.document).toBe(text);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    const installation = parseInstallation(toObject('{"id":"i","permissions":{"__proto__":"WRITE"}}'));
    expect(Object.getPrototypeOf(installation.permissions)).toBe(Object.prototype);
  });
});

describe('times are UTC to the millisecond', () => {
  test.each([
    ['2024-05-01T10:00:00Z', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T10:00:00.123456Z', '2024-05-01T10:00:00.123Z'],
    ['2024-05-01T12:00:00+02:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T10:00:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01 10:00:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T10:00:00+02', '2024-05-01T08:00:00.000Z'],
    ['2024-05-01T10:00:00-0330', '2024-05-01T13:30:00.000Z'],
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
    ['2026-02-29', null],
    ['2026-01-01Z', null],
    ['2024-02-29T10:00:00Z', '2024-02-29T10:00:00.000Z'],
    ['2023-02-29T10:00:00Z', null],
    ['2024-06-31T10:00:00.000Z', null],
    ['0000-03-01T00:00:00Z', '0000-03-01T00:00:00.000Z'],
    ['1582-10-10T12:00:00Z', '1582-10-10T12:00:00.000Z'],
    ['9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:00:00-05:00', null],
    ['0000-01-01T00:59:59+01:00', null],
    ['2024-03-31T02:30:00', '2024-03-31T02:30:00.000Z'],
    ['2024-05-01T10:00:00 PM', null],
    ['2024-05-01T10:00:00 (noon)', null],
    ['2024-13-01T10:00:00Z', null],
    ['yesterday', null],
    ['', null],
  ])('T68 %s becomes %s in every time zone', (sent, read) => {
    expect(parseRetirement(toObject({ id: 'r', createdAt: sent })).createdAt).toBe(read);
  });
});

test('bytes that are not UTF-8 are refused anywhere in an answer', () => {
  const page = (before: string, inside: string) =>
    Buffer.from(`{"x":"${before}","credits":[{"id":"${inside}"}]}`, 'latin1');
  for (const body of [page('\xff', 'a'), page('a', '\xff')]) {
    expect(() => parsePage(body, 'credits')).toThrow(expect.objectContaining({ code: 'bad_answer' }));
    expect(() => decodeBody({ status: 200, body })).toThrow(/expected UTF-8/);
  }
  expect(parsePage(page('a', 'b'), 'credits').rows).toHaveLength(1);
});

describe('ids', () => {
  test.each([undefined, null, '', '../../x', '..', 'a/b', 5, {}, 'a'.repeat(129), 'a\0'])(
    'T31 must not be %j, and the error names the field but not the object',
    id => {
      const source = parseObject(JSON.stringify({ id, secret: 'hidden' }), 'retirements[3]');
      const expected = expect.objectContaining({
        code: 'bad_answer',
        message: expect.stringMatching(/^retirements\[3\]\.id: expected an id, got (?!.*hidden)/),
      });
      expect(() => parseRetirement(source)).toThrow(expected);
    },
  );

  test('T31 are checked in every field that is sent', () => {
    expect(parseCredit(toObject({ id: 'c', inventoryId: '' })).inventoryId).toBeNull();
    expect(() => parseCredit(toObject({ id: 'c', project: { id: 'a/b' } }))).toThrow(/x\.project\.id/);
    expect(() => parseCredit(toObject({ id: 'c', projectId: '../x' }))).toThrow(/x\.projectId/);
    expect(() => parseInstallation(toObject({ id: 'i', organizationId: 'a/b' }))).toThrow(/organizationId/);
  });

  test.each(['ICR:2021/7 a', '../x', 'Ærø 😀', "Robert');--"])(
    'that are never part of a path may be %j',
    id => {
      expect(parseCredit(toObject({ id, inventoryId: id }))).toMatchObject({ creditId: id, inventoryId: id });
      expect(parseReservation(toObject({ id: 'r', creditId: id })).creditId).toBe(id);
      expect(parseInventoryRequest(toObject({ id: 'q', creditId: id, toOrganizationId: id }))).toMatchObject({
        creditId: id,
        toOrganizationId: id,
      });
    },
  );

  test.each([
    undefined,
    null,
    '',
    ' ',
    'a\0',
    'a\nb',
    'a\u202eb',
    'a\u2028',
    '\ud800',
    5,
    {},
    'x'.repeat(257),
  ])('T31 of credits must not be %j', id => {
    expect(() => parseCredit(toObject({ id }))).toThrow(/creditId: expected an id of printable text/);
    expect(() => parseReservation(toObject({ id: 'r', creditId: id }))).toThrow(/creditId/);
  });
});

describe('tokens', () => {
  const token = {
    token: 'crs_1',
    expiresAt: '2026-01-01T02:00:00Z',
    permissions: { organization_info: 'VIEW' },
  };

  test('an access token has no document', () => {
    const parsed = parseAccessToken(JSON.stringify({ ...token, installationId: 'i', organizationId: 'o' }));
    expect(parsed).toEqual({
      token: 'crs_1',
      expiresAt: '2026-01-01T02:00:00.000Z',
      permissions: { organization_info: 'VIEW' },
      installationId: 'i',
      organizationId: 'o',
    });
    expect(parseAccessToken(JSON.stringify(token))).toMatchObject({ installationId: null });
  });

  test.each([{ token: 'has space crs_9' }, { token: '' }, { token: 5 }, { token: 'a\ncrs_9' }])(
    'T69 an unusable token is not quoted: %j',
    change => {
      const text = JSON.stringify({ ...token, ...change });
      expect(() => parseAccessToken(text)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
      expect(() => parseAccessToken(text)).not.toThrow(/crs_/);
    },
  );

  test.each([{ expiresAt: 'soon' }, { expiresAt: 1_767_232_800 }, { expiresAt: undefined }])(
    'a token without a readable expiry is accepted: %j',
    change => {
      expect(parseAccessToken(JSON.stringify({ ...token, ...change })).expiresAt).toBe('');
    },
  );
});

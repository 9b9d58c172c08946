import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { findActiveContent, NOT_LOOKED_INTO } from '../../src/cli/commands/certificates/active-content.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { retirement, temporaryScene } from '../support/mirror.js';

const pdf = (...objects: (string | Buffer)[]) =>
  Buffer.concat([
    Buffer.from('%PDF-1.7\n'),
    ...objects.flatMap((object, index) => [
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(object),
      Buffer.from('\nendobj\n'),
    ]),
    Buffer.from('%%EOF\n'),
  ]);

const stream = (header: string, body: Buffer, line = '\n') =>
  Buffer.concat([
    Buffer.from(`<< /Length ${body.length} ${header} >>\nstream${line}`),
    body,
    Buffer.from('\nendstream'),
  ]);

const objects = (text: string) => deflateSync(Buffer.from(text));
const FLATE = '/Type /ObjStm /Filter /FlateDecode';

test.each([
  ['a script', '<< /S /JavaScript /JS (app.alert(1)) >>', ['JS', 'JavaScript']],
  ['a script in another spelling', '<</S/J#61vaScr#69pt/#4a#53(x)>>', ['JS', 'JavaScript']],
  ['a script in hexadecimal', '<</JS<616c657274>>>', ['JS']],
  ['a program', '<< /S /Launch /F (calc.exe) >>', ['Launch']],
  ['an action at opening', '<< /Type /Catalog /OpenAction << /S /Named /N /Print >> >>', ['OpenAction']],
  ['an action at opening elsewhere', '<< /OpenAction 2 0 R >>', ['OpenAction']],
  ['a place at opening', '<< /OpenAction [3 0 R /Fit] >>', []],
  ['going to a place at opening', '<< /OpenAction << /S /GoTo /D [3 0 R /Fit] >> >>', []],
  ['actions of a page', '<< /Type /Page /AA << /O 9 0 R >> >>', ['AA']],
  ['an attached file', '<< /Type /Filespec /EF << /F 9 0 R >> >>', ['EF']],
  ['a form that is sent', '<< /S /SubmitForm /F (http://example.org) >>', ['SubmitForm']],
  ['data that is taken in', '<< /S /ImportData >>', ['ImportData']],
  ['media', '<</Subtype/RichMedia>>', ['RichMedia']],
  ['longer names that begin alike', '<< /JSX 1 /AAA 2 /Launcher 3 /JavaScripts 4 >>', []],
  ['encryption', '<< /Encrypt 5 0 R >>', ['Encrypt']],
])('T46 %s is named by what it is', (_, object, found) => {
  expect(findActiveContent(pdf(object))).toEqual(found);
});

test('T46 a place at opening that stands in an object of its own is no action, unless another object says so too', () => {
  expect(findActiveContent(pdf('<< /OpenAction 2 0 R >>', '[3 0 R /Fit]'))).toEqual([]);
  const later = Buffer.from('2 0 obj << /S /URI >> endobj\n%%EOF\n');
  const updated = Buffer.concat([pdf('<< /OpenAction 2 0 R >>', '[3 0 R /Fit]'), later]);
  expect(findActiveContent(updated)).toEqual(['OpenAction']);
});

test.each(['\n', '\r\n', '\r'])('T46 compressed objects are looked into (line end %j)', line => {
  const body = objects('4 0 5 30 << /S /J#61vaScript /JS (x) >> << /AA 1 0 R >>');
  expect(findActiveContent(pdf(stream(FLATE, body, line)))).toEqual(['AA', 'JS', 'JavaScript']);
  const array = '/Type/Obj#53tm/Filter[/FlateDecode]';
  expect(findActiveContent(pdf(stream(array, body, line)))).toEqual(['AA', 'JS', 'JavaScript']);
  expect(findActiveContent(pdf(stream(FLATE, objects('4 0 << /Type /Page >>'), line)))).toEqual([]);
});

test.each([
  ['cut', stream(FLATE, Buffer.from('no deflated bytes'))],
  ['in another form', stream('/Type /ObjStm /Filter /LZWDecode', objects('4 0 <<>>'))],
  ['in two forms', stream('/Type /ObjStm /Filter [/ASCIIHexDecode /FlateDecode]', objects('4 0 <<>>'))],
  ['predicted', stream(`${FLATE} /DecodeParms << /Predictor 12 >>`, objects('4 0 <<>>'))],
  ['larger than is looked at', stream(FLATE, deflateSync(Buffer.alloc(65 * 1024 * 1024)))],
  ['without a stream', '<< /Type /ObjStm >>'],
])('T46 compressed objects that are %s are said not to be looked into', (_, object) => {
  expect(findActiveContent(pdf(object))).toEqual([NOT_LOOKED_INTO]);
});

test('T46 two letters among compressed bytes are chance, a long name never is', () => {
  const image = (bytes: string) => pdf(stream('/Subtype /Image /Filter /DCTDecode', Buffer.from(bytes)));
  expect(findActiveContent(image('\xff\xd8 /JS /AA \xff'))).toEqual([]);
  expect(findActiveContent(image('\xff\xd8 /JavaScript \xff'))).toEqual(['JavaScript']);
  const plain = pdf(stream('/Type /Metadata', Buffer.from('<< /JS (x) >>')));
  expect(findActiveContent(plain)).toEqual(['JS']);
});

test.each([
  ['streams without an end', 'stream\n', 500_000],
  ['short names', '/AA', 500_000],
  ['actions at opening', '/OpenAction 1 0 R\n', 100_000],
  ['empty objects', '1 0 obj<</Filter/FlateDecode/Type/ObjStm>>stream\nendstream\n', 50_000],
])('T46 a file of many %s is looked at all the same', (_, piece, times) => {
  expect(findActiveContent(Buffer.from(`%PDF-1.7\n${piece.repeat(times)}`))).toBeInstanceOf(Array);
});

test('T46 certificates verify names files with active content, which is no damage, and those that carry a signature', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder).close();
  const { db, read } = temporaryScene({ folder });
  await read('retirements', [retirement('r-1'), retirement('r-2')]);
  mkdirSync(join(folder, 'certificates'));
  const store = async (id: string, version: number, bytes: Buffer) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = `${id}-${sha256}.pdf`;
    writeFileSync(join(folder, 'certificates', file), bytes);
    await db.change(
      `INSERT INTO certificates (version, organization_id, retirement_id, state, file, sha256, size, fetched_at, due_at,
         retirement_version, valid_from) VALUES (?, 'organization-1', ?, 'stored', ?, ?, ?, '', '', 1, '')`,
      version,
      id,
      file,
      sha256,
      bytes.length,
    );
  };
  await store('r-1', 1001, pdf('<< /Type /Catalog >>', '<< /Type /Sig /Byte#52ange [0 10 20 30] >>'));
  await store('r-2', 1002, pdf('<< /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>'));
  const env = { DATA_DIR: folder };
  const { exitCode, stdout, stderr } = await runCommand(['certificates', 'verify'], { env });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('JS, JavaScript, OpenAction');
  expect(stderr).toContain('1 files hold active content, which is no damage');
  expect(stderr).toContain('1 of 2 files carry a signature, which is not checked.');
  const json = await runCommand(['certificates', 'verify', '--json'], { env });
  expect(json.exitCode).toBe(0);
  expect(JSON.parse(json.stdout)).toMatchObject({
    checked: 2,
    faults: [],
    active_content: [{ retirement_id: 'r-2', active_content: 'JS, JavaScript, OpenAction' }],
    signed: [expect.stringMatching(/^r-1-/)],
  });
});

import { describe, expect, test } from 'vitest';
import type { DownloadOptions } from '../../src/registry/read-types.js';
import { collectBytes, createTestClients, startLoopbackServer } from '../support/registry-client.js';
import type { RequestListener } from 'node:http';

/** Downloads a certificate from a registry that answers with this handler. */
async function downloadFrom(handler: RequestListener, options?: DownloadOptions) {
  const registry = await startLoopbackServer(handler);
  const { organization } = createTestClients(registry.url, { attempts: 1 });
  const answer = await organization.downloadCertificate('ret-1', options);
  return { answer, bytes: await collectBytes(answer.body) };
}

const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300_000, 7), Buffer.from('\n%%EOF')]);

const short: RequestListener = (request, response) => {
  response.writeHead(200, { 'content-length': pdf.length }).write(pdf.subarray(0, 1000));
  setTimeout(() => request.socket.end(), 20);
};

const endless: RequestListener = (_request, response) => {
  const more = () => {
    while (!response.destroyed && response.write(pdf));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

describe('a certificate', () => {
  test('is streamed byte for byte', async () => {
    const { answer, bytes } = await downloadFrom((_request, response) =>
      response.writeHead(200, { 'content-length': pdf.length }).end(pdf),
    );
    expect(bytes.equals(pdf)).toBe(true);
    expect(answer.contentLength).toBe(pdf.length);
  });

  test('T50 is refused above the size limit', async () => {
    await expect(downloadFrom(endless, { maxBytes: 1_000_000 })).rejects.toMatchObject({ code: 'too_large' });
    await expect(
      downloadFrom((_request, response) => response.end(pdf), { maxBytes: 100 }),
    ).rejects.toMatchObject({ code: 'too_large' });
  });

  test('T46 T50 is refused if it ends before its announced length', async () => {
    await expect(downloadFrom(short)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('T46 is refused if the response is partial', async () => {
    for (const [status, headers] of [
      [206, { 'content-range': `bytes 0-999/${pdf.length}`, 'content-length': 1000 }],
      [206, { 'content-length': 1000 }],
      [200, { 'content-range': `bytes 0-999/${pdf.length}`, 'content-length': 1000 }],
      [203, { 'content-length': 1000 }],
    ] as const) {
      const part: RequestListener = (_request, response) =>
        response.writeHead(status, headers).end(pdf.subarray(0, 1000));
      await expect(downloadFrom(part)).rejects.toMatchObject({ code: 'bad_answer' });
    }
  });

  test('T46 is refused if only the end of the connection marks its end', async () => {
    const signed = Buffer.from('%PDF-1.7 first\n%%EOF\n and its second part\n%%EOF\n');
    const cut: RequestListener = (request, response) => {
      response.detachSocket(request.socket);
      request.socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${signed.toString('latin1', 0, 21)}`);
    };
    await expect(downloadFrom(cut)).rejects.toMatchObject({ code: 'bad_answer' });
    const { bytes } = await downloadFrom((_request, response) => {
      response.write(signed.subarray(0, 21));
      response.end(signed.subarray(21));
    });
    expect(bytes.equals(signed)).toBe(true);
  });

  test.each([
    ['attachment; filename=retirement-1.pdf', 'retirement-1.pdf'],
    ['attachment; filename="Peat bog (2021).PDF"; size=7', 'Peat bog (2021).PDF'],
    ['inline', null],
    ['attachment; filename="../../../etc/passwd.pdf"', null],
    ['attachment; filename="a\\b.pdf"', null],
    ['attachment; filename=".pdf"', null],
    ['attachment; filename="nul.pdf"', null],
    ['attachment; filename="a.pdf.exe"', null],
    ['attachment; filename="a%2f..%2fb.pdf"', null],
    ["attachment; filename*=UTF-8''..%2fpasswd.pdf", null],
    [`attachment; filename="${'a'.repeat(200)}.pdf"`, null],
  ])('T51 gets a file name from %s only if it is safe', async (disposition, fileName) => {
    const { answer } = await downloadFrom((_request, response) =>
      response.writeHead(200, { 'content-disposition': disposition }).end(pdf),
    );
    expect(answer.fileName).toBe(fileName);
    expect(Object.keys(answer).toSorted()).toEqual(['body', 'cancel', 'contentLength', 'fileName']);
  });

  test('T53 is not_found only if the registry itself says so', async () => {
    await expect(
      downloadFrom((_request, response) =>
        response.writeHead(404).end('{"statusCode":404,"message":"none"}'),
      ),
    ).rejects.toMatchObject({ code: 'not_found', registryMessage: 'none' });
    await expect(
      downloadFrom((_request, response) => response.writeHead(404).end('<html>')),
    ).rejects.toMatchObject({ code: 'bad_answer' });
  });

  test('can be requested with any access token, and its download can be cancelled', async () => {
    const registry = await startLoopbackServer((_request, response) => response.write(pdf));
    const client = createTestClients(registry.url, { concurrency: 1 }).token;
    const first = await client.downloadCertificate('ret-1');
    await first.cancel();
    await expect(collectBytes(first.body)).rejects.toMatchObject({ code: 'cancelled' });
    const second = await client.downloadCertificate('ret-1');
    await second.cancel();
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { temporaryFolder } from './inbox.js';
import { listenOnFreePort } from './listen.js';

const CONFIG = `[req]
distinguished_name = name
[name]
[authority]
extendedKeyUsage = critical,timeStamping
[tsa]
default_tsa = one
[one]
serial = serial
signer_cert = authority.pem
signer_key = authority.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
crypto_device = builtin
ess_cert_id_alg = sha256
`;

/** Starts a timestamp authority on a free port. `answer` can replace its answers. */
export async function startTimestampAuthority() {
  const folder = join(temporaryFolder(), 'authority');
  mkdirSync(folder);
  const openssl = (...argv: string[]) => execFileSync('openssl', argv, { cwd: folder, stdio: 'pipe' });
  writeFileSync(join(folder, 'openssl.cnf'), CONFIG);
  writeFileSync(join(folder, 'serial'), '01\n');
  const subject = ['-config', 'openssl.cnf', '-extensions', 'authority', '-subj', '/CN=Test authority'];
  const files = ['-keyout', 'authority.key', '-out', 'authority.pem'];
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...subject);
  const reply = (request: Buffer): Buffer => {
    writeFileSync(join(folder, 'request.tsq'), request);
    openssl('ts', '-reply', '-config', 'openssl.cnf', '-queryfile', 'request.tsq', '-out', 'reply.tsr');
    return readFileSync(join(folder, 'reply.tsr'));
  };
  const authority = {
    url: '',
    requests: 0,
    reply,
    certificate: join(folder, 'authority.pem'),
    answer: (response: ServerResponse, request: Buffer): void => void response.end(reply(request)),
  };
  const server = createServer((request: IncomingMessage, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      authority.requests += 1;
      authority.answer(response, Buffer.concat(parts));
    });
  });
  authority.url = `http://127.0.0.1:${await listenOnFreePort(server)}/`;
  return authority;
}

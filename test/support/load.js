// A load client on bare sockets, so that it uses little of the CPU it measures. It parses only the HTTP responses of our receiver.
import { createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';

/** Prepares distinct signed deliveries as request bytes: [{ id, signedData, bytes }]. */
export function prepareDeliveries(count, { appId, secret, installations }) {
  return Array.from({ length: count }, (_, index) => {
    const id = randomUUID();
    const payload = createPayload(id, appId, installations[index % installations.length]);
    const signedData = Buffer.from(JSON.stringify(payload)).toString('base64');
    const body = JSON.stringify({ ...payload, signedData });
    const signature = createHmac('sha256', secret).update(signedData).digest('hex');
    const head = [
      'POST /webhooks HTTP/1.1',
      'host: 127.0.0.1',
      'content-type: application/json',
      `x-registry-signature-256: sha256=${signature}`,
      `content-length: ${Buffer.byteLength(body)}`,
    ];
    return { id, signedData, bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`) };
  });
}

/** Opens a keep-alive connection for one request at a time. `send` resolves with the status, or 0 once the connection is closed. */
export function openConnection(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let resolveStatus = null;
  let text = '';
  let isClosed = false;
  const finish = status => {
    text = '';
    resolveStatus?.(status);
  };
  socket.on('data', chunk => {
    text += chunk.latin1Slice();
    const end = text.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
    if (text.length >= end + 4 + length) finish(Number(text.slice(9, 12)));
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    finish(0);
  });
  return {
    send: bytes =>
      new Promise(resolve => {
        if (isClosed) return resolve(0);
        resolveStatus = resolve;
        socket.write(bytes);
      }),
    close: () => socket.destroy(),
  };
}

/** Returns the value at a share (0 to 1) of sorted values. */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function createPayload(id, appId, installation) {
  const at = '2026-01-02T03:04:05.678Z';
  return {
    event: 'warehouseTransaction',
    transaction: {
      id,
      creditId: 'exPost-2-0x52908400098527886e0f7030069857d2e4169ee7',
      createdAt: at,
      updatedAt: at,
      status: 'processed',
      type: 'transfer',
      amount: 12.5,
    },
    installation: {
      id: installation.id,
      appId,
      appNameId: 'marketplace',
      createdAt: at,
      updatedAt: at,
      permissions: { organization_info: 'VIEW', organization_warehouse: 'WRITE' },
      organization: {
        id: installation.organizationId,
        fullName: 'Harbour Wind Cooperative',
        logo: null,
        url: `undefined/app/organizations/${installation.organizationId}`,
        createdAt: at,
        updatedAt: at,
        countryCode: 'IS',
        city: '',
        zip: '',
        physicalAddress: '',
        registrationNumber: '',
        website: '',
        organizationIndustries: null,
        type: 'projectDeveloper',
        isPublic: true,
      },
      accessTokensUrl: `undefined/app/installations/${installation.id}/accessTokens`,
    },
    sender: {
      id: installation.organizationId,
      email: 'ann@example.org',
      fullName: 'Ann Example',
      profilePicture: null,
    },
  };
}

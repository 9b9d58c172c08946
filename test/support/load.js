// A load client on plain sockets, which costs little compared with the receiver that it measures. It parses only as much HTTP as our responses need.
import { createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';

/**
 * @typedef {{ readonly id: string, readonly organizationId: string }} Installed
 * @typedef {{ readonly id: string, readonly signedData: string, readonly bytes: Buffer }} PreparedDelivery
 * @typedef {{ send(bytes: Buffer): Promise<number>, close(): void }} LoadConnection
 */

/**
 * Prepares different signed deliveries, each with the bytes of its whole request.
 * @param {number} count
 * @param {{ appId: string, secret: string, installations: readonly Installed[] }} options
 * @returns {PreparedDelivery[]}
 */
export function prepareDeliveries(count, { appId, secret, installations }) {
  return Array.from({ length: count }, (_, index) => {
    const id = randomUUID();
    const installation = installations[index % installations.length];
    if (installation === undefined) throw new Error('expected at least one installation');
    const payload = describeDelivery(id, appId, installation);
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

/**
 * Opens a keep-alive connection for one request at a time. `send` resolves with the status, or with 0 if the connection is closed.
 * @param {number} port
 * @returns {LoadConnection}
 */
export function openConnection(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  /** @type {((status: number) => void) | null} */
  let settle = null;
  let text = '';
  let isClosed = false;
  /** @param {number} status */
  const finish = status => {
    text = '';
    settle?.(status);
  };
  socket.on('data', chunk => {
    text += chunk.toString('latin1');
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
        settle = resolve;
        socket.write(bytes);
      }),
    close: () => socket.destroy(),
  };
}

/**
 * @param {readonly number[]} sorted
 * @param {number} share
 */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/**
 * @param {string} id
 * @param {string} appId
 * @param {Installed} installation
 */
function describeDelivery(id, appId, installation) {
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

import type { Response } from 'express';
import { isObject, overrideObjects } from '../faults/override-objects.js';
import type { FaultKind, FaultOptions } from '../faults/fault-kinds.js';

/** A fault that changes how a response is sent. */
interface ResponseFault {
  readonly kind: FaultKind;
  readonly options: FaultOptions;
}

/**
 * Replaces the methods `write` and `end` of a response. The new methods collect the whole body, and then send it delayed, slowed, changed
 * or truncated, as the fault says.
 */
export function distortResponse(fault: ResponseFault, res: Response): void {
  const chunks: Buffer[] = [];
  const end = res.end.bind(res);
  const write = res.write.bind(res);

  /**
   * Buffers a chunk of the response body until the body is complete. Ignores values that are neither strings nor bytes.
   */
  function collectChunk(chunk: unknown): void {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, 'utf8'));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  }

  res.write = (chunk: unknown) => {
    collectChunk(chunk);
    return true;
  };
  res.end = (chunk?: unknown) => {
    collectChunk(chunk);
    res.write = write;
    res.end = end;
    sendDistorted(fault, Buffer.concat(chunks), res);
    return res;
  };
}

/** Sends a response body delayed, slowed, changed or truncated, depending on the kind of simulated fault. */
function sendDistorted({ kind, options }: ResponseFault, body: Buffer, res: Response): void {
  if (kind === 'delay') setTimeout(() => res.end(body), options.delayMs ?? 1000);
  else if (kind === 'slow') sendSlowly(body, res, options.intervalMs ?? 1000);
  else if (kind === 'overrideObjects')
    sendChangedBody(overrideObjects(body, isObject(options.body) ? options.body : {}), res);
  else sendPartialBody(body, res, options);
}

/** Sends a response body that a fault has changed. Sets the Content-Length header to the new length. */
function sendChangedBody(body: Buffer, res: Response): void {
  res.removeHeader('ETag');
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

/** Sends a response body one byte at a time, and waits `intervalMs` milliseconds before each byte. */
function sendSlowly(body: Buffer, res: Response, intervalMs: number): void {
  let sentBytes = 0;
  const timer = setInterval(() => {
    res.write(body.subarray(sentBytes, sentBytes + 1));
    sentBytes += 1;
    const isComplete = sentBytes >= body.length;
    if (isComplete) res.end();
    // A pipelined response gets no `close` event if its connection ends before its turn, so check the socket.
    if (isComplete || res.req.socket.destroyed) clearInterval(timer);
  }, intervalMs);
}

/**
 * Sends only the first `bytes` of a response body, by default half, and then breaks the connection. With `cleanEnd`, the short
 * response ends normally.
 */
function sendPartialBody(body: Buffer, res: Response, { bytes, cleanEnd = false }: FaultOptions): void {
  const part = body.subarray(0, bytes ?? Math.floor(body.length / 2));
  if (cleanEnd) {
    sendChangedBody(part, res);
    return;
  }
  if (part.length === 0) {
    res.destroy();
    return;
  }
  if (!res.hasHeader('Content-Length')) res.setHeader('Content-Length', body.length);
  res.write(part, () => res.destroy());
}

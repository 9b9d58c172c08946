import type { Response } from 'express';
import { isObject, misstate } from './misstate.js';
import type { FaultKind, FaultOptions } from './kinds.js';

interface Trouble {
  readonly kind: FaultKind;
  readonly options: FaultOptions;
}

/** Collects the registry's answer and then lets it go in a bad way. */
export function troubleAnswer(hold: Trouble, res: Response): void {
  const chunks: Buffer[] = [];
  const end = res.end.bind(res);
  const write = res.write.bind(res);

  function collect(chunk: unknown): void {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, 'utf8'));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  }

  res.write = (chunk: unknown) => {
    collect(chunk);
    return true;
  };
  res.end = (chunk?: unknown) => {
    collect(chunk);
    res.write = write;
    res.end = end;
    letGo(hold, Buffer.concat(chunks), res);
    return res;
  };
}

function letGo({ kind, options }: Trouble, whole: Buffer, res: Response): void {
  if (kind === 'delay') setTimeout(() => res.end(whole), options.delayMs ?? 1000);
  else if (kind === 'slow') drip(whole, res, options.intervalMs ?? 1000);
  else if (kind === 'says') sendWhole(misstate(whole, isObject(options.body) ? options.body : {}), res);
  else cut(whole, res, options);
}

function sendWhole(body: Buffer, res: Response): void {
  res.removeHeader('ETag');
  res.setHeader('Content-Length', body.length);
  res.end(body);
}

/** One byte at a time. */
function drip(whole: Buffer, res: Response, intervalMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    res.write(whole.subarray(sent, sent + 1));
    sent += 1;
    const isOver = sent >= whole.length;
    if (isOver) res.end();
    // A pipelined response gets no `close` where its connection ends before its turn.
    if (isOver || res.req.socket.destroyed) clearInterval(timer);
  }, intervalMs);
}

function cut(whole: Buffer, res: Response, { bytes, cleanEnd = false }: FaultOptions): void {
  const part = whole.subarray(0, bytes ?? Math.floor(whole.length / 2));
  if (cleanEnd) {
    sendWhole(part, res);
    return;
  }
  if (part.length === 0) {
    res.destroy();
    return;
  }
  if (!res.hasHeader('Content-Length')) res.setHeader('Content-Length', whole.length);
  res.write(part, () => res.destroy());
}

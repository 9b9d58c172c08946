import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnFreePort } from './listen.js';

/** A request that a subscriber received. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The id of the changed row; empty for other events. */
  readonly rowId: string;
  readonly isErased: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

interface EventBody {
  readonly type: string;
  readonly erased?: boolean;
  readonly data?: Readonly<Record<string, unknown>> & {
    readonly row?: { readonly id?: string } | null;
    readonly previous?: { readonly id?: string } | null;
  };
}

/** Returns the status of the answer, or null to answer by itself. */
export type EventAnswer = (event: ReceivedEvent, response: ServerResponse) => number | null;

/** Starts a subscriber on a free port. `received` has every request, refused ones too. */
export async function startEventReceiver() {
  const receiver = {
    url: '',
    received: new Array<ReceivedEvent>(),
    accepted: new Array<ReceivedEvent>(),
    answer: (
      (): EventAnswer => () =>
        204
    )(),
    /** Returns the accepted events of a type. */
    ofType: (type: string) => receiver.accepted.filter(event => event.type === type),
  };
  const server = createServer((request, response) => {
    void handle(request, response);
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const event = await readEvent(request);
    receiver.received.push(event);
    const status = receiver.answer(event, response);
    if (status === null) return;
    if (status < 300) receiver.accepted.push(event);
    response.writeHead(status).end();
  };
  receiver.url = `http://127.0.0.1:${await listenOnFreePort(server)}/hook`;
  return receiver;
}

async function readEvent(request: IncomingMessage): Promise<ReceivedEvent> {
  let body = '';
  for await (const part of request) body += String(part);
  const parsed: EventBody = JSON.parse(body);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  return {
    id: headers['webhook-id'] ?? '',
    type: parsed.type,
    body,
    data: parsed.data ?? {},
    rowId: parsed.data?.row?.id ?? parsed.data?.previous?.id ?? '',
    isErased: parsed.erased ?? false,
    headers,
  };
}

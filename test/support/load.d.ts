export interface PreparedDelivery {
  readonly id: string;
  readonly signedData: string;
  readonly bytes: Buffer;
}

export interface LoadConnection {
  send(bytes: Buffer): Promise<number>;
  close(): void;
}

export function prepareDeliveries(
  count: number,
  options: {
    readonly appId: string;
    readonly secret: string;
    readonly installations: readonly { readonly id: string; readonly organizationId: string }[];
  },
): PreparedDelivery[];
export function openConnection(port: number): LoadConnection;
export function percentile(sorted: readonly number[], share: number): number;

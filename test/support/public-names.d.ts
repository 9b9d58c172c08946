export interface PublicNames {
  readonly tables: Readonly<Record<string, readonly string[]>>;
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly settings: readonly string[];
  readonly metrics: readonly string[];
  readonly exports: Readonly<Record<string, readonly string[]>>;
}

export function readPublicNames(root: string): Promise<PublicNames>;

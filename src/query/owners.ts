export interface Owned {
  readonly organization_id: string | null;
}

/** What is of the same owner. */
export function byOwner<Row extends Owned>(rows: readonly Row[]): (owner: Owned) => readonly Row[] {
  const owned = new Map<string | null, Row[]>();
  for (const row of rows) {
    const known = owned.get(row.organization_id);
    if (known === undefined) owned.set(row.organization_id, [row]);
    else known.push(row);
  }
  return ({ organization_id: id }) => owned.get(id) ?? [];
}

export function idsOf(owners: readonly Owned[]): string[] {
  return owners.flatMap(({ organization_id: id }) => id ?? []);
}

type Members = Readonly<Record<string, unknown>>;

/** The same answer, but each object whose id is named says other things of itself. */
export function misstate(answer: Buffer, byId: Members): Buffer {
  const told: unknown = JSON.parse(answer.toString('utf8'));
  return Buffer.from(JSON.stringify(restate(told, byId)));
}

function restate(told: unknown, byId: Members): unknown {
  if (Array.isArray(told)) return told.map((each: unknown) => restate(each, byId));
  if (!isObject(told)) return told;
  const members = Object.entries(told).map(([name, value]) => [name, restate(value, byId)] as const);
  const said = byId[String(told['id'])];
  return { ...Object.fromEntries(members), ...(isObject(said) ? said : {}) };
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The rights of an actor, a visitor whom the sign-in proxy names: `read` allows opening pages, `act` also pressing buttons that
 * start work.
 */
export type ActorRole = 'read' | 'act';

/** Returns the role of an actor. An actor who is not listed has the role `read`. */
export type RoleLookup = (name: string) => ActorRole;

const LINE = /^(?<name>\S+)\s+(?<role>read|act)$/;

/** Parses a file of actors: a name and a role on each line. Throws if a line has another form or repeats a name. */
export function parseActors(text: string): ReadonlyMap<string, ActorRole> {
  const roles = new Map<string, ActorRole>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const { name, role } = LINE.exec(content)?.groups ?? {};
    if (name === undefined || (role !== 'read' && role !== 'act'))
      throw new Error(`Line ${index + 1}: expected a name and "read" or "act".`);
    if (roles.has(name)) throw new Error(`Line ${index + 1}: this name stands in the file twice.`);
    roles.set(name, role);
  }
  return roles;
}

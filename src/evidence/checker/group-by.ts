/** Groups items by a key, in order. Replaces `Map.groupBy`, which Node 20 lacks. */
export function groupBy<Key, Item>(items: Iterable<Item>, getKey: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = getKey(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

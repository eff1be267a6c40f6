/**
 * What is done with as many values as a server, a stack or a file likes to have. Spread into the arguments of a call
 * (`push(...rows)`, `Math.max(...sizes)`) some 120 000 of them are more than the stack of the process holds.
 */

export function addAll<T>(target: T[], values: Iterable<T>): void {
  for (const value of values) target.push(value)
}

export function addTo<K, V>(lists: Map<K, V[]>, at: K, value: V): void {
  const list = lists.get(at)
  if (list) list.push(value)
  else lists.set(at, [value])
}

/** As Math.max: of no values -Infinity. */
export function largest(values: Iterable<number>): number {
  let found = Number.NEGATIVE_INFINITY
  for (const value of values) found = Math.max(found, value)
  return found
}

/** As Math.min: of no values Infinity. */
export function smallest(values: Iterable<number>): number {
  let found = Number.POSITIVE_INFINITY
  for (const value of values) found = Math.min(found, value)
  return found
}

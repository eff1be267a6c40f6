/** The text of an ACL rule (`+@read ~cache:*`): servers re-space it, and its tokens tell whether a change allows more. */
import type {Json, JsonObject} from '../../base/json.ts'

export const spaced = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

export const sameAclText = (declared: Json, live: Json): boolean =>
  typeof declared === 'string' && typeof live === 'string' && spaced(declared) === spaced(live)

/** A token that only takes away: `-@dangerous`, `resetkeys`, `nocommands`. */
const takesAway = (token: string): boolean => /^(-|reset|nocommands|off$)/i.test(token)

const without = (tokens: readonly string[], others: readonly string[]): readonly string[] => tokens.filter(token => !others.includes(token))

/** Words unless the new text is provably narrower: it drops tokens that allow, and adds tokens that forbid, and nothing else. */
export function aclRisk(before: Json | undefined, after: Json | undefined): string | undefined {
  const [was, is] = [before, after].map(text => (typeof text === 'string' ? spaced(text).split(' ') : []))
  if (!was || !is) return undefined
  const [dropped, added] = [without(was, is), without(is, was)]
  const narrower = dropped.length + added.length > 0 && !dropped.some(takesAway) && added.every(takesAway)
  return narrower ? undefined : 'may allow more than before'
}

/** One text under every name it may be declared by, evenly spaced; a name with a text of its own keeps it. */
export function withAclSpellings(live: JsonObject, names: readonly string[]): JsonObject {
  const texts = names.flatMap(name => {
    const text = live[name]
    return typeof text === 'string' ? [[name, spaced(text)] as const] : []
  })
  const first = texts[0]
  return first ? {...live, ...Object.fromEntries(names.map(name => [name, first[1]])), ...Object.fromEntries(texts)} : live
}

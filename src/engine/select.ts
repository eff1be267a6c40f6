/** `--target` and `--exclude`: which objects a run is about. What is left out still counts as declared. */
import {AppError, EXIT} from '../base/errors.ts'
import {nearest} from '../base/nearest.ts'
import type {Declaration, StackDeclarations} from './declaration.ts'
import {names} from './guards.ts'
import type {Ledger} from './ledger.ts'
import type {Operation} from './plan.ts'
import {type Key, keyOf} from './value.ts'

export interface Selection {
  readonly target: readonly string[]
  readonly exclude: readonly string[]
}

export class UnknownAddressError extends AppError {
  constructor(flag: string, words: readonly string[], known: readonly string[]) {
    super(`${flag}: no declared or owned object is called ${words.join(', ')}`, {
      code: 'E_UNKNOWN_ADDRESS',
      exit: EXIT.usage,
      suggestions: words.map(word => nearest(word, known)).flatMap(it => (it === undefined ? [] : [`Did you mean ${it}?`])),
    })
  }
}

/**
 * A target takes what it depends on along; an exclusion takes its dependants away.
 * @throws UnknownAddressError
 */
export function selected(
  stacks: readonly StackDeclarations[],
  ledgers: ReadonlyMap<string, Ledger>,
  {target, exclude}: Selection,
): (key: Key) => boolean {
  if (target.length === 0 && exclude.length === 0) return () => true
  const declarations = stacks.flatMap(it => it.declarations)
  const owned = [...ledgers].flatMap(([stack, ledger]) => [...ledger.entries.values()].map(({address, kind}) => ({stack, address, kind})))
  const all = [...declarations, ...owned]
  const known = all.map(it => it.address)
  const fits = (words: readonly string[], it: {stack: string; address: string; kind: string}) => words.some(word => names(word, it))
  for (const [flag, words] of [
    ['--target', target],
    ['--exclude', exclude],
  ] as const) {
    const unknown = words.filter(word => !word.includes('/') && !all.some(it => names(word, it)))
    if (unknown.length > 0) throw new UnknownAddressError(flag, unknown, known)
  }
  const keys = (words: readonly string[]) => all.filter(it => fits(words, it)).map(it => keyOf(it.stack, it.address))
  const wanted = target.length === 0 ? undefined : closure(keys(target), forward(declarations))
  const unwanted = exclude.length === 0 ? undefined : closure(keys(exclude), backward(declarations))
  return key => (wanted?.has(key) ?? true) && !unwanted?.has(key)
}

/** Undeclared objects of exclusive collections have no key: they are taken only when they are named, and never when excluded. */
export function keepsUndeclared(operation: Operation, {target, exclude}: Selection): boolean {
  if (exclude.some(word => names(word, operation))) return false
  return target.length === 0 || target.some(word => names(word, operation))
}

const needsOf = (it: Declaration): Key[] => [...(it.parent?.by === 'key' ? [it.parent.key] : []), ...it.dependsOn.map(edge => edge.key)]

const forward = (declarations: readonly Declaration[]): Map<Key, Key[]> => new Map(declarations.map(it => [it.key, needsOf(it)]))

function backward(declarations: readonly Declaration[]): Map<Key, Key[]> {
  const followers = new Map<Key, Key[]>()
  for (const it of declarations) {
    for (const need of needsOf(it)) {
      const list = followers.get(need)
      if (list) list.push(it.key)
      else followers.set(need, [it.key])
    }
  }
  return followers
}

function closure(start: readonly Key[], next: ReadonlyMap<Key, readonly Key[]>): Set<Key> {
  const reached = new Set<Key>()
  const open = [...start]
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (reached.has(key)) continue
    reached.add(key)
    open.push(...(next.get(key) ?? []))
  }
  return reached
}

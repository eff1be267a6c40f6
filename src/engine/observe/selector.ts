/**
 * The words by which people name objects on a command line. One resolver serves every option that takes them, so that
 * what a plan prints (an address, a construct path, a remote id, a name) is what an option understands.
 *
 * A word means, in this order: what has it as its address, construct path or remote id; a kind; what has it as its
 * natural name; and as a pattern (`*`, `?`) the same again. The first that fits anything decides, so that one object's
 * name never reaches another one's address.
 */

import {type GlobPattern, globPattern, isGlob} from '../../base/glob.ts'
import {addTo} from '../../base/many.ts'
import type {StackDeclarations} from '../model/declaration.ts'
import {withoutDeposed} from '../model/deposed.ts'
import type {Kinds} from '../model/kind.ts'
import type {Ledger} from '../model/ledger.ts'
import {plainPart} from '../model/resolve.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'

/** What an object may be called. */
export interface Named {
  readonly stack: string
  readonly address: string
  readonly kind: string
  readonly remoteId?: string
  /** The natural key. */
  readonly name?: string
  readonly construct?: string
}

/** How words came to mean an object, the strongest first: some permissions are given for the thing itself only. */
export type Manner = 'itself' | 'pattern' | 'all' | 'kind'

export const ALL = '*'

/** Words, resolved against every object they could mean. */
export class Words {
  /** Those that mean nothing here. A kind that exists means something even where no object has it. */
  readonly unknown: readonly string[]
  /** Those that mean no object here: kinds nobody has among them. */
  readonly idle: readonly string[]
  readonly #manners = new Map<Key, 'itself' | 'pattern'>()
  readonly #called = new Map<string, readonly Key[]>()
  /** What a pattern means that would fit other objects' names too. */
  readonly #patterns = new Map<string, ReadonlySet<Key>>()
  readonly #kinds = new Set<string>()
  readonly #meant = new Map<string, Iterable<Key>>()
  readonly #all: boolean

  constructor(words: readonly string[], objects: Iterable<Named>, kinds: Kinds) {
    this.#all = words.includes(ALL)
    const unknown: string[] = []
    const idle: string[] = []
    const book = words.some(it => it !== ALL) ? new Book(objects) : undefined
    for (const word of new Set(words)) {
      if (word === ALL || book === undefined) continue
      const exact = book.exactly(word)
      if (exact === undefined && kinds.has(word)) {
        this.#kinds.add(word)
        const having = book.kinds.get(word)
        if (having === undefined) idle.push(word)
        else this.#meant.set(word, having)
        continue
      }
      const itself = exact ?? book.called(word)
      const pattern = itself === undefined && isGlob(word) ? book.fitting(globPattern(word)) : undefined
      if (pattern?.others) this.#patterns.set(word, pattern.meant)
      const meant = itself ?? pattern?.meant
      // What is another object's natural name is safe only where everything is known.
      const others = [...(book.called(word) ?? [])].some(key => !exact?.has(key))
      if (itself && others) this.#called.set(word, [...itself])
      for (const key of meant ?? []) if (itself || !this.#manners.has(key)) this.#manners.set(key, itself ? 'itself' : 'pattern')
      if (meant !== undefined) {
        this.#meant.set(word, meant)
        continue
      }
      unknown.push(word)
      idle.push(word)
    }
    this.unknown = unknown
    this.idle = idle
  }

  /** What one of the words means, whatever the others do. */
  meantBy(word: string): Iterable<Key> {
    return this.#meant.get(word) ?? []
  }

  mannerOf({stack, address, kind}: Pick<Named, 'stack' | 'address' | 'kind'>): Manner | undefined {
    return this.#manners.get(keyOf(stack, address)) ?? (this.#all ? 'all' : this.#kinds.has(kind) ? 'kind' : undefined)
  }

  mean(it: Pick<Named, 'stack' | 'address' | 'kind'>): boolean {
    return this.mannerOf(it) !== undefined
  }

  /**
   * The same words for fewer objects, among which none can come to mean something else: a natural name becomes an
   * address, and a pattern of addresses that are not among them goes, where it would fit the names of others.
   */
  spelledOut(words: readonly string[], among: ReadonlySet<Key>): string[] {
    const stays = (word: string) => {
      const meant = this.#patterns.get(word)
      return meant === undefined || [...meant].some(key => among.has(key))
    }
    return [...new Set(words.filter(stays).flatMap(word => this.#called.get(word) ?? [word]))]
  }
}

/** The spellings of many objects, by what they mean. */
class Book {
  readonly kinds = new Map<string, Key[]>()
  readonly #exact = new Map<string, Set<Key>>()
  readonly #names = new Map<string, Set<Key>>()

  constructor(objects: Iterable<Named>) {
    for (const it of objects) {
      const key = keyOfOperation(it)
      addTo(this.kinds, it.kind, key)
      for (const text of spellingsOf(it)) {
        add(this.#exact, text, key)
        add(this.#exact, keyOf(it.stack, text), key)
      }
      if (it.name === undefined) continue
      add(this.#names, it.name, key)
      add(this.#names, keyOf(it.stack, it.name), key)
    }
  }

  exactly(word: string): ReadonlySet<Key> | undefined {
    return this.#exact.get(word)
  }

  called(name: string): ReadonlySet<Key> | undefined {
    return this.#names.get(name)
  }

  /** What fits, and whether names of other objects do that are not meant. */
  fitting(pattern: GlobPattern): {readonly meant: ReadonlySet<Key>; readonly others: boolean} | undefined {
    const [exact, names] = [fittingIn(this.#exact, pattern), fittingIn(this.#names, pattern)]
    if (exact === undefined) return names && {meant: names, others: false}
    return {meant: exact, others: [...(names ?? [])].some(key => !exact.has(key))}
  }
}

function fittingIn(texts: ReadonlyMap<string, ReadonlySet<Key>>, pattern: GlobPattern): ReadonlySet<Key> | undefined {
  const keys = new Set<Key>()
  for (const [text, its] of texts) if (pattern.test(text)) for (const key of its) keys.add(key)
  return keys.size === 0 ? undefined : keys
}

function add(texts: Map<string, Set<Key>>, text: string, key: Key): void {
  const keys = texts.get(text)
  if (keys) keys.add(key)
  else texts.set(text, new Set([key]))
}

const RESOURCE = 'null_resource.'

/**
 * An address, the same without `null_resource.`, both without an index (they mean all instances) and for what is
 * deposed the address it had; the construct path; the remote path.
 */
function spellingsOf({address, construct, remoteId}: Named): Set<string> {
  const texts = new Set<string>()
  for (const it of [address, withoutDeposed(address)]) {
    for (const text of [it, withoutIndex(it)]) {
      texts.add(text)
      if (text.startsWith(RESOURCE)) texts.add(text.slice(RESOURCE.length))
    }
  }
  if (construct !== undefined) texts.add(construct)
  if (remoteId !== undefined) texts.add(remoteId)
  return texts
}

const withoutIndex = (address: string): string => (address.endsWith(']') ? address.slice(0, address.indexOf('[')) : address)

/** Everything that is known of before the first request: what is declared anywhere, and what the ledgers own. */
export function namedObjects(stacks: readonly StackDeclarations[], ledgers: ReadonlyMap<string, Ledger>, kinds: Kinds): Named[] {
  const declared = stacks.flatMap(it => it.declarations)
  const constructs = new Map(declared.map(it => [it.key, it.source.construct]))
  const named = (at: Pick<Named, 'stack' | 'address' | 'kind'>, name: string | undefined, construct: string | undefined): Named => ({
    ...at,
    ...(name === undefined ? {} : {name}),
    ...(construct === undefined ? {} : {construct}),
  })
  return [
    ...declared.map(({stack, address, kind, spec, source}) =>
      named({stack, address, kind}, kinds.get(kind)?.identity.key(plainPart(spec)), source.construct),
    ),
    ...[...ledgers].flatMap(([stack, {entries}]) =>
      [...entries.values()].map(({address, kind, remoteId, applied}) => ({
        ...named({stack, address, kind}, kinds.get(kind)?.identity.key(applied), constructs.get(keyOf(stack, withoutDeposed(address)))),
        remoteId,
      })),
    ),
  ]
}

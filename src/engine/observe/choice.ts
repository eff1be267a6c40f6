/**
 * Every option that names objects, resolved before anything is decided. A word that means nothing is an error: an
 * exclusion that excludes nothing would change what somebody wanted left alone. It is one before the first request where
 * what is declared and owned says so; a remote id, and the name of an undeclared object in an `exclusive` collection,
 * are known once that was read.
 */
import {AppError, EXIT} from '../../base/errors.ts'
import {isGlob} from '../../base/glob.ts'
import {nearest} from '../../base/nearest.ts'
import {shellWord} from '../../base/shell-word.ts'
import {stackOf} from '../model/journal.ts'
import {type Kind, type Kinds, locate} from '../model/kind.ts'
import type {LedgerEntry} from '../model/ledger.ts'
import type {LiveObject} from '../model/live.ts'
import type {Lifts, Operation} from '../model/plan.ts'
import {type Key, keyOf, keyOfOperation} from '../model/value.ts'
import type {Observation, ObserveInput} from './observation.ts'
import {observe} from './observe.ts'
import {type SelectInput, type Selection, selected} from './select.ts'
import {ALL, type Named, namedObjects, Words} from './selector.ts'

/** The words of every option that takes them. */
export type OptionWords = Selection & Pick<Lifts, 'accept' | 'allowDestroy' | 'adopt'>

const FLAGS = {
  target: '--target',
  exclude: '--exclude',
  accept: '--accept',
  allowDestroy: '--allow-destroy',
  adopt: '--adopt',
} as const satisfies Record<keyof OptionWords, string>

const OPTIONS = Object.keys(FLAGS) as (keyof OptionWords)[]

/** A kind that nothing has is a standing permission there, and elsewhere means nothing. */
const PERMISSIONS: readonly (keyof OptionWords)[] = ['allowDestroy', 'adopt']

export class UnknownAddressError extends AppError {
  readonly #of: readonly [readonly Unknown[], readonly Named[]]

  /** @param kinds - that may be named where nothing has them */
  constructor(unknown: readonly Unknown[], objects: readonly Named[], kinds: Iterable<string> = []) {
    const known = spellings(objects)
    const permitted = spellings(objects, kinds)
    const isPermission = (flag: string) => PERMISSIONS.some(it => FLAGS[it] === flag)
    const near = [
      ...new Set(
        unknown.flatMap(({flag, word}) => nearestOf(word, isPermission(flag) ? permitted : known).map(it => `Did you mean ${it}?`)),
      ),
    ]
    super(unknown.map(({flag, word}) => `${flag} ${word}: no declared or owned object has this name`).join('\n'), {
      lines: true,
      code: 'E_UNKNOWN_ADDRESS',
      exit: EXIT.usage,
      suggestions: near.length > 0 ? near : ['Use an address, a construct path or a remote id as "svcctl plan" shows them.'],
    })
    this.#of = [unknown, objects]
  }

  /** The same of a command that was given the words in another way. */
  calledBy(name: string): UnknownAddressError {
    const [unknown, objects] = this.#of
    return new UnknownAddressError(
      unknown.map(({word}) => ({flag: name, word})),
      objects,
    )
  }
}

/** A target that this run cannot reach: an empty plan would look as if nothing were to be done. */
export class UnselectedTargetError extends AppError {
  constructor(those: readonly {readonly word: string; readonly stacks: readonly string[]}[]) {
    const stacks = [...new Set(those.flatMap(it => it.stacks))]
    super(
      those
        .map(({word, stacks}) => `--target ${word} is in the stack${stacks.length === 1 ? '' : 's'} ${stacks.join(', ')}, and not selected`)
        .join('\n'),
      {
        lines: true,
        code: 'E_TARGET_UNSELECTED',
        exit: EXIT.usage,
        suggestions: [`Select it too: ${stacks.map(it => `--stack ${shellWord(it)}`).join(' ')}`],
      },
    )
  }
}

const NO_WORDS: OptionWords = {target: [], exclude: [], accept: [], allowDestroy: [], adopt: []}

interface Unknown {
  readonly flag: string
  readonly word: string
}

function unknownIn(words: OptionWords, objects: readonly Named[], kinds: Kinds): Unknown[] {
  return OPTIONS.flatMap(option => {
    const {unknown, idle} = new Words(words[option], objects, kinds)
    return (PERMISSIONS.includes(option) ? unknown : idle).map(word => ({flag: FLAGS[option], word}))
  })
}

export interface WordsInput extends Omit<SelectInput, 'selection'> {
  readonly words: OptionWords
  /** The stacks of the run; the others only count as declared. */
  readonly selected: ReadonlySet<string>
}

/** Each target is looked at alone: one that is reached says nothing of another. @throws UnselectedTargetError */
function assertReached({target}: Selection, objects: readonly Named[], selected: ReadonlySet<string>, kinds: Kinds): void {
  const meaning = new Words(target, objects, kinds)
  const out = target.flatMap(word => {
    if (word === ALL) return []
    const stacks = [...new Set([...meaning.meantBy(word)].map(stackOf))].sort()
    return stacks.length === 0 || stacks.some(it => selected.has(it)) ? [] : [{word, stacks}]
  })
  if (out.length > 0) throw new UnselectedTargetError(out)
}

/**
 * What can be said of the words before anything is read.
 * @returns whether some of them can only be told once it was
 * @throws UnknownAddressError, UnselectedTargetError
 */
export function assertWords({words, stacks, ledgers, kinds, selected, destroy = false}: WordsInput): boolean {
  if (!names(words)) return false
  const objects = namedObjects(stacks, ledgers, kinds)
  assertReached(words, objects, selected, kinds)
  const unknown = unknownIn(words, objects, kinds)
  const exclusive = !destroy && stacks.some(stack => stack.declarations.some(it => it.policy.exclusive.length > 0))
  const undeclared = exclusive || [...ledgers.values()].some(it => [...it.entries.values()].some(entry => madeInline(entry, kinds)))
  const later = (word: string) =>
    (destroy ? undeclared : true) && (isRemote(word, kinds) || (undeclared && !word.includes('null_resource.')))
  const hopeless = unknown.filter(it => !later(it.word))
  if (hopeless.length > 0) throw new UnknownAddressError(hopeless, objects, kinds.keys())
  return unknown.length > 0
}

/** Whether an object was made with others in it, which go with it and have no declaration. */
const madeInline = ({kind, applied}: LedgerEntry, kinds: Kinds): boolean => {
  const made = applied[kinds.get(kind)?.inlineChildren?.field ?? '']
  return Array.isArray(made) && made.length > 0
}

/** Whether any word has to be looked up. */
const names = (words: OptionWords): boolean => OPTIONS.some(option => words[option].some(it => it !== ALL))

/** Whether a word is, or is a pattern of, a remote path. */
function isRemote(word: string, kinds: Kinds): boolean {
  const path = word.slice(word.indexOf(':') + 1)
  return locate(kinds, path) !== undefined || (isGlob(path) && path.includes('/'))
}

/**
 * The selection of a command that compares nothing but what is declared and owned.
 * @param reads - whether the ledgers are there; without them a remote id may be anybody's
 * @throws UnknownAddressError
 */
export function chooseKnown(input: SelectInput & Pick<WordsInput, 'selected'>, {reads}: {readonly reads: boolean}): (key: Key) => boolean {
  const {stacks, ledgers, kinds, selection} = input
  const words = {...NO_WORDS, ...selection}
  if (!names(words)) return selected(input, [])
  const objects = namedObjects(stacks, ledgers, kinds)
  assertReached(words, objects, input.selected, kinds)
  const unknown = unknownIn(words, objects, kinds).filter(it => reads || !isRemote(it.word, kinds))
  if (unknown.length > 0) throw new UnknownAddressError(unknown, objects)
  return selected(input, objects)
}

/** What is said when a saved plan is applied names objects of that plan. @throws UnknownAddressError */
export function assertPermissions(
  operations: readonly Named[],
  permissions: Pick<OptionWords, 'allowDestroy' | 'adopt'>,
  kinds: Kinds,
): void {
  const unknown = unknownIn({...NO_WORDS, ...permissions}, operations, kinds)
  if (unknown.length > 0) throw new UnknownAddressError(unknown, operations)
}

/** What was chosen, of everything that may be planned. */
export interface Choice {
  /** Whether a declaration, or what a ledger owns, is looked at. */
  readonly wants: (key: Key) => boolean
  /** Of what is planned: undeclared objects among it have names too, and fit patterns. */
  readonly over: (operations: readonly Operation[]) => {
    /**
     * Whether an object nobody declares is removed: by its own name only, since nothing else stands for it. What was made
     * with an object that is chosen has to go before that can.
     */
    readonly keeps: (operation: Operation) => boolean
    readonly accepts: (operation: Operation) => boolean
    /** In spellings that mean the same to whoever reads them beside these operations. */
    readonly permissions: Pick<Lifts, 'allowDestroy' | 'adopt'>
  }
}

/** @throws UnknownAddressError, and what reading throws */
export async function choose(input: ObserveInput & {readonly words: OptionWords}): Promise<Choice> {
  const {words, stacks, ledgers, otherLedgers = [], kinds, destroy = false} = input
  const known = names(words) ? namedObjects(stacks, ledgers, kinds) : []
  const open = assertWords(input)
  const {named, holders} = open ? seenIn(await observe(input), kinds) : {named: [], holders: new Map<Key, Key>()}
  const objects = [...known, ...named]
  const unknown = open ? unknownIn(words, objects, kinds) : []
  if (unknown.length > 0) throw new UnknownAddressError(unknown, objects)
  const wants = selected({stacks, ledgers, otherLedgers, kinds, destroy, selection: words}, objects, holders)
  return {
    wants,
    over: operations => {
      const all = names(words) ? [...objects, ...operations.filter(isUndeclared)] : objects
      const told = (option: keyof OptionWords) => new Words(words[option], all, kinds)
      const [target, exclude, accept] = [told('target'), told('exclude'), told('accept')]
      const planned = new Set(operations.map(keyOfOperation))
      const spelledOut = (option: keyof OptionWords) => new Words(words[option], objects, kinds).spelledOut(words[option], planned)
      return {
        keeps: it => !exclude.mean(it) && (words.target.length === 0 || it.cause === 'made-inline' || target.mean(it)),
        accepts: it => accept.mean(it),
        permissions: {allowDestroy: spelledOut('allowDestroy'), adopt: spelledOut('adopt')},
      }
    },
  }
}

/** Everything, for planning a saved plan again: what it takes as reached is in it. */
export const wholePlan = (accepted: ReadonlySet<Key>): Choice => ({
  wants: () => true,
  over: () => ({
    keeps: () => true,
    accepts: it => accepted.has(keyOfOperation(it)),
    permissions: {allowDestroy: [], adopt: []},
  }),
})

const isUndeclared = ({declared, address, remoteId}: Operation): boolean => declared === undefined && address === remoteId

/** What only reading shows: where declared objects are, and what stands undeclared where a plan would remove it. */
function seenIn({pairs, orphans, collections, ownership}: Observation, kinds: Kinds): {named: Named[]; holders: Map<Key, Key>} {
  const named: Named[] = []
  const holders = new Map<Key, Key>()
  // A remote path names an object within one account.
  const at = (stack: string, {kind, remoteId}: Pick<LiveObject, 'kind' | 'remoteId'>) => `${ownership.account(stack, kind.api)} ${remoteId}`
  const matched = new Set([...pairs.values()].flatMap(({declaration, match}) => (match ? [at(declaration.stack, match.live)] : [])))
  const lists = new Map(collections.map(it => [placeOf(ownership.accountAt(it.backend), it.kind.name, it.parent), it]))
  const undeclared = (stack: string, holder: Key, child: string, parent: readonly string[]) => {
    const api = kinds.get(child)?.api
    const list = api && lists.get(placeOf(ownership.account(stack, api), child, parent))
    if (list === undefined) return
    for (const live of list.objects) {
      const {remoteId, name, kind} = live
      if (matched.has(at(stack, live)) || ownership.at(list.backend, remoteId) !== undefined) continue
      named.push({stack, address: remoteId, kind: kind.name, remoteId, ...(name === undefined ? {} : {name})})
      holders.set(keyOf(stack, remoteId), holder)
    }
  }
  const below = (kind: Kind, exclusive: readonly string[]): string[] => [
    ...exclusive.flatMap(word => kind.exclusive?.[word] ?? []),
    ...(kind.inlineChildren ? [kind.inlineChildren.kind] : []),
  ]
  for (const {declaration, match} of pairs.values()) {
    if (match === undefined) continue
    const {stack, address, source, policy} = declaration
    const {remoteId, name, kind, ids} = match.live
    const construct = source.construct === undefined ? {} : {construct: source.construct}
    named.push({stack, address, kind: kind.name, remoteId, ...(name === undefined ? {} : {name}), ...construct})
    for (const child of below(kind, policy.exclusive)) undeclared(stack, declaration.key, child, ids)
  }
  for (const {stack, object, live} of orphans) {
    const kind = kinds.get(object.kind)
    if (live === undefined || kind === undefined) continue
    for (const child of below(kind, [])) undeclared(stack, keyOf(stack, object.address), child, live.ids)
  }
  return {named, holders}
}

const placeOf = (account: string, kind: string, parent: readonly string[]): string => JSON.stringify([account, kind, ...parent])

const RESOURCE = /^null_resource\./

interface Spellings {
  /** By what is typed of them. */
  readonly addresses: ReadonlyMap<string, string>
  /** Kinds, too. */
  readonly names: ReadonlySet<string>
  /** Construct paths, and remote ids. */
  readonly paths: readonly ReadonlySet<string>[]
}

/** What objects are called, as plans print it. */
function spellings(objects: Iterable<Named>, kinds: Iterable<string> = []): Spellings {
  const addresses = new Map<string, string>()
  const [names, constructs, remotes] = [new Set<string>(kinds), new Set<string>(), new Set<string>()]
  for (const {address, construct, remoteId, name, kind} of objects) {
    names.add(kind)
    addresses.set(address.replace(RESOURCE, ''), address)
    if (construct !== undefined) constructs.add(construct)
    if (remoteId !== undefined) remotes.add(remoteId)
    if (name !== undefined) names.add(name)
  }
  return {addresses, names: new Set([...names].filter(it => !addresses.has(it))), paths: [constructs, remotes]}
}

/** The nearest of each sort that the word could have been meant as. */
function nearestOf(word: string, {addresses, names, paths}: Spellings): string[] {
  const bare = word.replace(/^[^:/[\]]+:/, '')
  const found = bare.includes('/')
    ? paths.map(it => nearest(bare, it))
    : [addresses.get(nearest(bare.replace(RESOURCE, ''), addresses.keys()) ?? ''), nearest(bare, names)]
  return found.filter(it => it !== undefined)
}

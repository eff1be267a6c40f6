/** What an import is told: declarations by their words, objects by their remote paths or the ids in them. */
import {JsonBoundsError, parseJson} from '../../base/bounded-json.ts'
import {AppError, EXIT, type Problem} from '../../base/errors.ts'
import {isJsonObject} from '../../base/json.ts'
import type {Declaration, StackDeclarations} from '../../engine/model/declaration.ts'
import {idsIn, type Kind, type Kinds, kindCalled, locate, remoteIdOf} from '../../engine/model/kind.ts'
import type {Key} from '../../engine/model/value.ts'
import {UnknownAddressError} from '../../engine/observe/choice.ts'
import {namedObjects, Words} from '../../engine/observe/selector.ts'

/** An address and what it is to mean, as somebody typed them. */
export interface ImportWish {
  readonly word: string
  readonly id: string
}

/** Remote paths by the keys of the declarations that are to have them. */
export type ImportPairs = ReadonlyMap<Key, string>

/** Pairs that cannot be meant, whatever is live. */
export class ImportPairsError extends AppError {
  constructor(problems: readonly Problem[], suggestions: readonly string[] = ['Correct the pairs named above. Nothing was imported.']) {
    super(problems.map(({address, message}) => (address === undefined ? message : `${address}: ${message}`)).join('\n'), {
      lines: true,
      code: 'E_IMPORT_PAIRS',
      exit: EXIT.usage,
      problems,
      suggestions,
    })
  }
}

/** @param name - of the file, for messages @throws ImportPairsError */
export function readPairs(text: string, name: string): ImportWish[] {
  const refuse = (message: string) =>
    new ImportPairsError(
      [{message: `${name} ${message}`}],
      ['Write an object of addresses and remote ids: {"null_resource.cache": "12/51"}.'],
    )
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw refuse(error instanceof JsonBoundsError ? error.message : 'is not JSON')
  }
  if (!isJsonObject(value)) throw refuse('holds no object of addresses and remote ids')
  const wishes = Object.entries(value).map(([word, id]) => {
    if (typeof id !== 'string' && typeof id !== 'number') throw refuse(`has no remote id for ${word}`)
    return {word, id: String(id)}
  })
  if (wishes.length === 0) throw refuse('names nothing')
  return wishes
}

/** @throws UnknownAddressError for what is not declared, with the nearest names; ImportPairsError with every problem */
export function resolvePairs(wishes: readonly ImportWish[], stacks: readonly StackDeclarations[], kinds: Kinds): ImportPairs {
  const objects = namedObjects(stacks, new Map(), kinds)
  const meaning = wishes.map(wish => ({wish, words: new Words([wish.word], objects, kinds)}))
  const unknown = meaning.flatMap(({wish, words}) =>
    words.idle.length > 0 || isKind(wish.word, kinds) ? [{flag: 'import', word: wish.word}] : [],
  )
  if (unknown.length > 0) throw new UnknownAddressError(unknown, objects)
  const declarations = stacks.flatMap(it => it.declarations)
  const pairs = new Map<Key, string>()
  const taken = new Map<string, string>()
  const problems: Problem[] = []
  for (const {wish, words} of meaning) {
    const [only, ...more] = declarations.filter(it => words.mean(it))
    if (only === undefined || more.length > 0) {
      const meant = [only, ...more].flatMap(it => it?.key ?? [])
      problems.push({address: wish.word, message: `means ${meant.join(', ')}; name one of them`})
      continue
    }
    const path = remotePath(wish.id, only, kinds)
    if (typeof path !== 'string') problems.push({address: only.key, ...path})
    else if (pairs.has(only.key)) problems.push({address: only.key, message: 'is named twice'})
    else {
      const holder = taken.get(`${only.stack} ${path}`)
      if (holder !== undefined)
        problems.push({address: only.key, message: `would mean ${path}, as ${holder} would; one object can have one declaration`})
      taken.set(`${only.stack} ${path}`, only.key)
      pairs.set(only.key, path)
    }
  }
  if (problems.length > 0) throw new ImportPairsError(problems)
  return pairs
}

const isKind = (word: string, kinds: Kinds): boolean => kinds.has(word)

/** `12/51` stands for the whole path where the kind has as many ids. */
function remotePath(id: string, {kind: name}: Declaration, kinds: Kinds): string | {readonly message: string} {
  const kind = kindCalled(kinds, name)
  const located = locate(kinds, id)
  if (located !== undefined && located.kind !== kind)
    return {message: `${id} is a ${located.kind.noun} (${located.kind.name}), and it is declared as ${name}`}
  const parts = id.split('/')
  const ids = located?.ids ?? (parts.length === idsNeeded(kind) ? idsIn({...kind, remote: parts.map(() => '*').join('/')}, id) : undefined)
  return ids === undefined ? {message: `${JSON.stringify(id)} names no ${kind.noun}: write ${spelling(kind)}`} : remoteIdOf(kind, ids)
}

const idsNeeded = ({remote}: Kind): number => remote.split('/').filter(it => it === '*').length

function spelling(kind: Kind): string {
  const count = idsNeeded(kind)
  const whole = kind.remote.replaceAll('*', 'ID')
  return count === 0 ? whole : `${whole}, or ${Array.from({length: count}, () => 'ID').join('/')}`
}

/** The same stacks, whose declarations mean these objects from here on. */
export const withImports = (stacks: readonly StackDeclarations[], pairs: ImportPairs): StackDeclarations[] =>
  stacks.map(stack =>
    stack.declarations.some(it => pairs.has(it.key))
      ? {
          ...stack,
          declarations: stack.declarations.map(it => {
            const importId = pairs.get(it.key)
            return importId === undefined ? it : {...it, importId}
          }),
        }
      : stack,
  )

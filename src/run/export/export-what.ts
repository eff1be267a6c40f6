/** What `svcctl export` is told to export: places, and kinds. */
import {APIS, type Api} from '../../base/apis.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {globPattern} from '../../base/glob.ts'
import {nearest} from '../../base/nearest.ts'
import {UsageError} from '../../base/usage-error.ts'
import {type Kind, type Kinds, locate} from '../../engine/model/kind.ts'
import type {LiveObject} from '../../engine/model/live.ts'
import {isBelow} from '../../engine/observe/read-world.ts'

/** What was to be exported is not there. */
export class ExportAbsentError extends AppError {
  constructor(what: string) {
    super(`there is no ${what}`, {
      code: 'E_EXPORT_ABSENT',
      exit: EXIT.notFound,
      suggestions: ['See which there are: svcctl cloud subscriptions, or export everything and look at it.'],
    })
  }
}

/** A name that means two things. */
export class ExportAmbiguousError extends AppError {
  constructor(what: string, ids: readonly string[]) {
    super(`more than one object is called ${what}: ${ids.join(', ')}`, {
      code: 'E_EXPORT_NAMES',
      exit: EXIT.refused,
      suggestions: [`Name one of them by its remote path: svcctl export ${ids[0] ?? ''}`],
    })
  }
}

export interface What {
  readonly apis: readonly Api[]
  /** Everything of these, not only what is named: nothing was named. */
  readonly isAll: boolean
  /** Single objects, or what is below them, and not whole APIs. */
  readonly picks: boolean
  readonly wants: (kind: Kind) => boolean
  /** @throws ExportAbsentError, ExportAmbiguousError */
  readonly scope: (roots: readonly LiveObject[]) => readonly string[]
  /** Whether an object that was read is exported. */
  readonly covers: (live: LiveObject, scope: readonly string[]) => boolean
}

const NAMED = 'subscription:'

/**
 * @param words - `cloud`, `cluster`, `subscription:NAME`, remote paths; none: everything
 * @param patterns - of kinds; absent: all that do not go with their parent
 * @throws UsageError
 */
export function parseWhat(words: readonly string[], patterns: readonly string[] | undefined, kinds: Kinds): What {
  const chosen = patterns === undefined ? [...kinds.values()].filter(it => !it.goesWithParent) : kindsMeant(patterns, kinds)
  const places = words.length === 0 ? APIS.map(wholeApi) : words.map(word => placeOf(word, kinds))
  const single = new Set(places.flatMap(it => it.single ?? []))
  const open = new Set(places.filter(it => it.single === undefined).map(it => it.api))
  return {
    apis: APIS.filter(api => places.some(it => it.api === api)),
    isAll: words.length === 0,
    picks: words.some(word => !isApi(word)),
    wants: kind => single.has(kind) || (open.has(kind.api) && chosen.includes(kind)),
    scope: roots => places.map(it => it.path(roots)),
    covers: ({kind, remoteId}, scope) =>
      scope.some((path, at) => remoteId === path || (places[at]?.single === undefined && isBelow(remoteId, path) && chosen.includes(kind))),
  }
}

interface ExportedPlace {
  readonly api: Api
  /** Of one object alone: its kind. */
  readonly single?: Kind
  readonly path: (roots: readonly LiveObject[]) => string
}

const isApi = (word: string): boolean => APIS.some(it => it === word)
const wholeApi = (api: Api): ExportedPlace => ({api, path: () => api})

function placeOf(word: string, kinds: Kinds): ExportedPlace {
  const api = APIS.find(it => it === word)
  if (api !== undefined) return wholeApi(api)
  if (word.startsWith(NAMED)) return {api: 'cloud', path: roots => named(word.slice(NAMED.length), roots, kinds)}
  const located = locate(kinds, word)
  if (located === undefined)
    throw new UsageError(`${JSON.stringify(word)} is nothing that can be exported`, [
      'Write cloud, cluster, subscription:NAME, or a remote path such as cloud/subscriptions/12.',
    ])
  const {kind} = located
  return {api: kind.api, ...(holds(kind, kinds) ? {} : {single: kind}), path: () => word}
}

const holds = (kind: Kind, kinds: Kinds): boolean =>
  kind.parent === undefined && [...kinds.values()].some(it => it.parent?.kind === kind.name)

function named(name: string, roots: readonly LiveObject[], kinds: Kinds): string {
  const [first, ...more] = roots.filter(it => it.kind.noun === 'subscription' && holds(it.kind, kinds) && it.name === name)
  if (first === undefined) throw new ExportAbsentError(`subscription called ${JSON.stringify(name)}`)
  if (more.length > 0)
    throw new ExportAmbiguousError(
      `subscription ${JSON.stringify(name)}`,
      [first, ...more].map(it => it.remoteId),
    )
  return first.remoteId
}

function kindsMeant(patterns: readonly string[], kinds: Kinds): readonly Kind[] {
  return patterns.flatMap(pattern => {
    const found = [...kinds.values()].filter(it => globPattern(pattern).test(it.name))
    if (found.length > 0) return found
    const near = nearest(pattern, kinds.keys())
    throw new UsageError(`no kind is called ${JSON.stringify(pattern)}`, [
      `${near === undefined ? '' : `Did you mean ${near}? `}The kinds are ${[...kinds.keys()].join(', ')}.`,
    ])
  })
}

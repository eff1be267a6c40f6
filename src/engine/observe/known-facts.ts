/** What was read, in the place of an API: it answers what it has, asks nobody, and takes no writes. */
import type {Api} from '../../base/apis.ts'
import type {Backend} from '../model/backend.ts'
import {type Kinds, remoteIdOf} from '../model/kind.ts'
import type {Collection, LiveObject} from '../model/live.ts'

/** Something was asked for that nobody has read. */
export class UnknownFactError extends Error {}

/**
 * @param facts - the objects of these collections as they are to be seen; those that are not among them are gone
 */
export function knownFacts(api: Api, kinds: Kinds, collections: readonly Collection[], facts: readonly LiveObject[]): Backend {
  const lists = new Map(collections.filter(it => it.kind.api === api).map(it => [it.path, it]))
  const objects = new Map(facts.map(it => [it.remoteId, it]))
  const byPath = new Map(
    [...kinds.values()].flatMap(kind =>
      facts
        .filter(it => it.kind === kind)
        .flatMap(it => {
          const request = kind.verbs.read?.(it.ids)
          return request === undefined ? [] : [[request.path, it.fields] as const]
        }),
    ),
  )
  const writes = (): never => {
    throw new UnknownFactError(`${api}: what was read takes no writes`)
  }
  return {
    name: api,
    reader: {
      async list({path}) {
        const list = lists.get(path)
        if (list === undefined) throw new UnknownFactError(`${path} was not read`)
        if (list.gone) return undefined
        const rows = list.objects.flatMap(it => [objects.get(remoteIdOf(it.kind, it.ids))?.fields].filter(row => row !== undefined))
        return {rows, withoutId: list.withoutId, proven: list.proven}
      },
      async prove() {},
      async read({path}) {
        return byPath.get(path)
      },
      forget() {},
    },
    write: writes,
    tasks: async () => undefined,
    task: async () => undefined,
    now: () => 0,
    spending: {
      used: 0,
      waiting: 0,
      perMinute: Number.POSITIVE_INFINITY,
      burst: Number.POSITIVE_INFINITY,
      available: Number.POSITIVE_INFINITY,
    },
  }
}

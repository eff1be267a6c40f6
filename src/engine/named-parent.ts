/** A parent that is named in text: any live object of its kind with that name or id, wherever it stands. */
import type {Problem} from '../base/errors.ts'
import {type Declaration, sourceOf} from './declaration.ts'
import type {Ids, Kind, Kinds} from './kind.ts'
import type {Collection} from './live.ts'

export interface NamedParentInput {
  readonly kinds: Kinds
  /** Reads a collection, once. */
  readonly list: (kind: Kind, parent: Ids) => Promise<Collection>
  /** What was found out to be wrong is added to these. */
  readonly ambiguous: Problem[]
  readonly problems: Problem[]
}

/** @returns undefined for a parent that is not named in text, is not there, or is not clear */
export async function namedParent(declaration: Declaration, input: NamedParentInput): Promise<Ids | undefined> {
  const ref = declaration.parent
  const field = input.kinds.get(declaration.kind)?.parent
  const kind = input.kinds.get(field?.kind ?? '')
  if (field === undefined || kind === undefined || ref === undefined || ref.by === 'key' || ref.by === 'remoteId') return undefined
  const lists = await everywhere(kind, input)
  const fits = lists.flatMap(it => it.objects).filter(it => (ref.by === 'id' ? it.ids.at(-1) === ref.id : it.name === ref.name))
  const [only, second] = fits
  const said = JSON.stringify(ref.by === 'id' ? ref.id : ref.name)
  if (second !== undefined) {
    input.ambiguous.push({
      address: declaration.key,
      message: `${fits.length} live ${kind.noun}s fit ${said}: ${fits.map(it => it.remoteId).join(', ')}`,
      ...sourceOf(declaration),
    })
  } else if (only === undefined && lists.every(it => it.proven)) {
    input.problems.push({
      address: declaration.key,
      path: `/${field.field}`,
      message: `there is no ${kind.noun} ${said}`,
      ...sourceOf(declaration),
    })
  }
  return second === undefined ? only?.ids : undefined
}

async function everywhere(kind: Kind, input: NamedParentInput): Promise<Collection[]> {
  const above = kind.parent && input.kinds.get(kind.parent.kind)
  const parents = above ? (await everywhere(above, input)).flatMap(it => it.objects.map(live => live.ids)) : [[]]
  return Promise.all(parents.map(parent => input.list(kind, parent)))
}

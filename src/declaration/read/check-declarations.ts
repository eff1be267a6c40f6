/** What can only be seen of all declarations together: the same object twice, and work that waits for itself. */
import type {Declaration, ParentRef} from '../../engine/model/declaration.ts'
import {meansSame} from '../../engine/model/kind.ts'
import {MOST_NAMESAKES, Namesakes} from '../../engine/model/namesakes.ts'
import type {Key} from '../../engine/model/value.ts'
import type {Problems} from '../files/problems.ts'
import type {Draft} from './draft.ts'
import type {DraftIndex} from './parents.ts'

export interface Resolved {
  readonly draft: Draft
  readonly declaration: Declaration
}

export function checkDuplicates(all: readonly Resolved[], index: DraftIndex, problems: Problems): void {
  const known = new Namesakes<Draft>()
  for (const {draft, declaration} of all) {
    const {kind} = draft
    const name = kind.singleton ? kind.name : draft.naturalKey
    if (name === undefined || (kind.parent && !declaration.parent)) continue
    const parent = parentText(declaration.parent) ?? index.account(draft.stack, kind.api)
    // Where a name may stand for several, an import block tells which one is meant.
    const meant = kind.identity.unique || kind.singleton ? '' : (declaration.importId ?? '')
    const slot = `${kind.name}\0${parent}\0${name}\0${meant}`
    const other = known.add(slot, draft, it => kind.singleton === true || meansSame(kind.identity, draft, it))
    if (other === undefined) continue
    if (other === 'too-many')
      problems.add(
        draft.place,
        `more than ${MOST_NAMESAKES} declarations are of a ${kind.noun} ${JSON.stringify(name)}: nobody can tell them apart`,
      )
    else if (kind.singleton) problems.add(draft.place, `there is only one ${kind.noun}, and ${other.key} declares it already`)
    else
      problems.add(
        draft.place,
        `${other.key} declares the ${kind.noun} ${JSON.stringify(name)} already: two declarations would change one object in turn`,
      )
  }
}

function parentText(parent: ParentRef | undefined): string | undefined {
  switch (parent?.by) {
    case undefined:
      return undefined
    case 'key':
      return parent.key
    case 'id':
      return `id ${parent.id}`
    case 'name':
      return `name ${parent.name}`
    case 'remoteId':
      return parent.remoteId
    default:
      return parent satisfies never
  }
}

/** Each cycle of parents and dependencies once. */
export function checkCycles(all: readonly Resolved[], problems: Problems): void {
  const byKey = new Map(all.map(it => [it.declaration.key, it]))
  const done = new Set<Key>()
  for (const start of byKey.keys()) {
    if (done.has(start)) continue
    const path: {key: Key; next: Iterator<Key>}[] = []
    const onPath = new Map<Key, number>()
    const enter = (key: Key): void => {
      const it = byKey.get(key)
      if (it === undefined || done.has(key)) return
      const at = onPath.get(key)
      if (at !== undefined) {
        const cycle = [...path.slice(at).map(step => step.key), key]
        problems.add(
          it.draft.place,
          `dependency cycle, the objects wait for each other: ${cycle.join(' → ')}; take one of these references away`,
        )
        return
      }
      onPath.set(key, path.length)
      path.push({key, next: waitsFor(it.declaration)[Symbol.iterator]()})
    }
    enter(start)
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.next.next()
      if (!next.done) enter(next.value)
      else {
        path.pop()
        onPath.delete(last.key)
        done.add(last.key)
      }
    }
  }
}

const waitsFor = ({parent, dependsOn}: Declaration): readonly Key[] => [
  ...(parent?.by === 'key' ? [parent.key] : []),
  ...dependsOn.map(({key}) => key),
]

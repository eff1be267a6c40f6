/** What a parent's text names; interface.md: "a remote path, else all digits = id, else a name". */
import type {Api} from '../../base/apis.ts'
import type {ParentRef, Target} from '../../engine/model/declaration.ts'
import {type Kinds, locate} from '../../engine/model/kind.ts'
import type {Key} from '../../engine/model/value.ts'
import type {Problems} from '../files/problems.ts'
import type {Draft} from './draft.ts'

export type StackTargets = ReadonlyMap<string, {readonly cloud?: Target; readonly cluster?: Target}>

/** Drafts by key, and by kind and natural key. */
export class DraftIndex {
  readonly byKey = new Map<Key, Draft>()
  readonly #byName = new Map<string, Draft[]>()
  readonly #targets: StackTargets

  constructor(drafts: readonly Draft[], targets: StackTargets) {
    this.#targets = targets
    for (const draft of drafts) {
      this.byKey.set(draft.key, draft)
      if (draft.naturalKey === undefined) continue
      const slot = `${draft.kind.name}\0${draft.naturalKey}`
      const known = this.#byName.get(slot)
      if (known) known.push(draft)
      else this.#byName.set(slot, [draft])
    }
  }

  /** Which account a stack's objects of one API are in, as far as the stacks say. */
  account(stack: string, api: Api): string {
    const {profile = '', account = ''} = this.#targets.get(stack)?.[api] ?? {}
    return `${profile}\0${account}`
  }

  /** The one declaration of that name which a stack can mean: its own, else one of another stack for the same account. */
  named(kind: string, name: string, stack: string): Draft | undefined {
    const found = this.#byName.get(`${kind}\0${name}`) ?? []
    const own = found.filter(it => it.stack === stack)
    const near = own.length > 0 ? own : found.filter(it => this.account(it.stack, it.kind.api) === this.account(stack, it.kind.api))
    return near.length === 1 ? near[0] : undefined
  }
}

/** `undefined` with a problem, or where nothing is known yet (validate). */
export function parentRefOf(draft: Draft, index: DraftIndex, kinds: Kinds, problems: Problems): ParentRef | undefined {
  const {parent, kind, place, stack} = draft
  const wanted = kind.parent?.kind
  if (parent === undefined || wanted === undefined) return undefined
  const say = (message: string): void => problems.add(place, message, `/${parent.field}`)
  if ('key' in parent.value) {
    const {key} = parent.value
    const declared = index.byKey.get(key)
    // Not there: its own kind is not known, which is a problem already.
    if (declared !== undefined && declared.kind.name !== wanted) {
      say(`${JSON.stringify(parent.field)} must refer to a ${wanted}, and ${key} is a ${declared.kind.name}`)
      return undefined
    }
    return {by: 'key', key}
  }
  const {text} = parent.value
  const located = text.includes('/') ? locate(kinds, text) : undefined
  if (located?.kind.name === wanted) return {by: 'remoteId', remoteId: text}
  if (located || /^(?:cloud|cluster)\//.test(text)) {
    const shape = kinds.get(wanted)?.remote.replaceAll('*', '<id>') ?? wanted
    if (located)
      say(`${JSON.stringify(text)} is the path of a ${located.kind.name}, and a ${kind.name} lives in a ${wanted}: write ${shape}`)
    else say(`${JSON.stringify(text)} is no path of a ${wanted}: write ${shape}`)
    return undefined
  }
  if (/^\d+$/.test(text)) return {by: 'id', id: text}
  // A reference to a parent's name, or the name of a parent that is declared too: work has to wait for it.
  const read = [...parent.reads].map(key => index.byKey.get(key)).find(it => it?.kind.name === wanted && it.naturalKey === text)
  const declared = read ?? index.named(wanted, text, stack)
  return declared && declared.key !== draft.key ? {by: 'key', key: declared.key} : {by: 'name', name: text}
}

/** What is exported, as it will stand in code: stacks, ids, fields, references and secrets. Pure, and the same for every form. */
import type {Api} from '../base/apis.ts'
import type {Json, JsonObject} from '../base/json.ts'
import {escapeSegment} from '../base/pointer.ts'
import {type Kind, type Kinds, parentRemoteId} from '../engine/model/kind.ts'
import type {LiveObject} from '../engine/model/live.ts'
import {exportedFields} from './fields.ts'
import {objectIds, type StackIds, stackIds} from './ids.ts'
import {byRemoteId, byText} from './natural-order.ts'
import {pascalCase, plainWord} from './words.ts'

export type Split = 'subscription' | 'none'

export interface ExportInput {
  readonly kinds: Kinds
  /** What is exported. */
  readonly objects: readonly LiveObject[]
  /** What was read beside it: parents, and others of the same name. */
  readonly around?: readonly LiveObject[]
  /** One stack for each subscription, or one for all. */
  readonly split: Split
  /** `--all-fields` */
  readonly allFields: boolean
  /** Takes known secrets out of what a server shows. */
  readonly hides: (value: Json) => Json
  /** Ids that are wished for, by remote path. */
  readonly ids?: ReadonlyMap<string, string>
}

export interface ExportModel {
  readonly stacks: readonly ExportedStack[]
  /** Objects that no stack can declare, and why. */
  readonly undeclarable: readonly Undeclarable[]
}

export interface Undeclarable {
  readonly kind: string
  readonly remoteId: string
  readonly name: string | undefined
  readonly problems: readonly string[]
}

export interface ExportedStack {
  /** The stack's name, and its file's. */
  readonly id: string
  readonly className: string
  /** The APIs its objects are of. */
  readonly apis: readonly Api[]
  /** By kind, parent, name and id; what is referred to stands before what refers to it. */
  readonly objects: readonly ExportedObject[]
}

/** How an object names its parent: what stands beside it, or what nobody declares, in words. */
export type ExportedParent = {readonly field: string; readonly remoteId: string} & (
  | {readonly id: string}
  /** Its name, or its remote path where a name does not tell. */
  | {readonly text: string}
)

export interface ExportedObject {
  readonly kind: Kind
  readonly remoteId: string
  readonly name: string | undefined
  readonly stack: string
  readonly id: string
  /** `null_resource.cache` */
  readonly address: string
  readonly parent?: ExportedParent
  /** Fields that the types know; of a reference the name it stands for. */
  readonly spec: JsonObject
  readonly unlisted: JsonObject
  /** Fields that hold the name of an object of the same stack, and its id. */
  readonly references: Readonly<Record<string, string>>
  /** Fields that hold a secret, and its variable. */
  readonly secrets: Readonly<Record<string, string>>
  readonly leftOut: readonly string[]
  /** Another object in the same place has the same name: only its remote id tells which one is meant. */
  readonly isNamesake: boolean
  /** As it was read; for what one language has a place for, and our declarations have not. */
  readonly live: LiveObject
}

interface Draft {
  readonly live: LiveObject
  readonly fields: ReturnType<typeof exportedFields>
}

export function exportModel(input: ExportInput): ExportModel {
  const {kinds, objects, around = [], allFields, hides} = input
  const known = new Map([...around, ...objects].map(it => [it.remoteId, it]))
  const namesakes = countedNames([...known.values()], kinds)
  const undeclarable: Undeclarable[] = []
  const drafts = objects.toSorted(byPlace(kinds, known)).flatMap((live): Draft[] => {
    const isNamesake = (namesakes.get(nameIn(live, kinds)) ?? 0) > 1
    const fields = exportedFields(live, {allFields, hides, isNamesake})
    if (fields.problems.length === 0) return [{live, fields}]
    const {kind, remoteId, name} = live
    undeclarable.push({kind: kind.name, remoteId, name: hides(name ?? null) === name ? name : undefined, problems: fields.problems})
    return []
  })
  const groups = new Map<string, Draft[]>()
  for (const draft of drafts) {
    const root = rootOf(draft.live, input.split, kinds, known)
    groups.set(root, [...(groups.get(root) ?? []), draft])
  }
  const stacks = stacksOf(groups, known, input)
  const variables = new Set<string>()
  return {
    stacks: [...groups]
      // What was there before keeps its variables, whatever is called like it later.
      .sort(([a], [b]) => byRemoteId(a, b))
      .map(([root, members]) =>
        exportedStack(stacks.get(root) ?? {id: root, className: pascalCase(root)}, members, known, namesakes, input),
      )
      .map(stack => withOwnVariables(stack, variables))
      .sort((a, b) => byText(a.id, b.id)),
    undeclarable,
  }
}

/** What a stack is for: the root object that its objects belong to, or an API as a whole. */
function rootOf({kind, remoteId}: LiveObject, split: Split, kinds: Kinds, known: ReadonlyMap<string, LiveObject>): string {
  let root = remoteId
  for (let above = parentRemoteId({kinds}, root); above !== undefined; above = parentRemoteId({kinds}, above)) root = above
  const holds = [...kinds.values()].some(it => it.parent?.kind === (known.get(root)?.kind ?? kind).name)
  return split === 'none' || (!holds && root === remoteId) ? kind.api : root
}

function stacksOf(groups: ReadonlyMap<string, readonly Draft[]>, known: ReadonlyMap<string, LiveObject>, {kinds, ids}: ExportInput) {
  const roots = [...groups.keys()].flatMap(root => {
    const live = known.get(root)
    return live === undefined ? [] : [{...live, name: ids?.get(`stack ${root}`) ?? live.name}]
  })
  return stackIds(roots, kinds)
}

function exportedStack(
  stack: StackIds,
  drafts: readonly Draft[],
  known: ReadonlyMap<string, LiveObject>,
  namesakes: ReadonlyMap<string, number>,
  {kinds, split, ids: wished}: ExportInput,
): ExportedStack {
  const lives = drafts.map(it => it.live)
  const prefixes = split === 'none' ? prefixesOf(lives, known, kinds) : undefined
  const ids = objectIds(lives, {kinds, ...(prefixes && {prefixOf: it => prefixes.get(it)}), ...(wished && {wished})})
  const byKey = new Map(lives.map(it => [siblingKey(it.kind.name, parentRemoteId({kinds}, it.remoteId), it.name), it.remoteId]))
  const objects = drafts.map(({live, fields}): ExportedObject => {
    const {kind, remoteId, name} = live
    const id = ids.get(remoteId) ?? ''
    const above = parentRemoteId({kinds}, remoteId)
    const references: Record<string, string> = {}
    for (const [field, value] of Object.entries(fields.spec)) {
      const names = kind.fields[`/${escapeSegment(field)}`]?.names
      const target = names === undefined || typeof value !== 'string' ? undefined : byKey.get(siblingKey(names, above, value))
      const targetId = target === undefined ? undefined : ids.get(target)
      if (targetId !== undefined) references[field] = targetId
    }
    const unread = Object.entries(kind.fields).flatMap(([pointer, rule]) => (rule.writeOnly ? [pointer.slice(1)] : []))
    return {
      kind,
      remoteId,
      name,
      stack: stack.id,
      id,
      address: `null_resource.${id}`,
      ...(kind.parent && above !== undefined ? {parent: parentOf(kind.parent.field, above, ids, known, namesakes, kinds)} : {}),
      spec: fields.spec,
      unlisted: fields.unlisted,
      references,
      secrets: Object.fromEntries(fields.secrets.map(it => [it, `${id}_${unread[0] === it ? 'password' : plainWord(it)}`])),
      leftOut: fields.leftOut,
      isNamesake: (namesakes.get(nameIn(live, kinds)) ?? 0) > 1 && live.name !== undefined,
      live,
    }
  })
  return {...stack, apis: [...new Set(objects.map(it => it.kind.api))].sort(), objects}
}

/** `--split none`: what stood in a stack of its own is told apart by that stack's name. */
function prefixesOf(lives: readonly LiveObject[], known: ReadonlyMap<string, LiveObject>, kinds: Kinds): ReadonlyMap<string, string> {
  const rootOfEach = new Map(lives.map(it => [it.remoteId, rootOf(it, 'subscription', kinds, known)]))
  const roots = [...new Set(rootOfEach.values())].flatMap(it => known.get(it) ?? [])
  const names = stackIds(roots, kinds)
  return new Map(
    [...rootOfEach].flatMap(([remoteId, root]) => {
      const prefix = names.get(root)?.id
      return prefix === undefined ? [] : [[remoteId, prefix] as const]
    }),
  )
}

function parentOf(
  field: string,
  remoteId: string,
  ids: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, LiveObject>,
  namesakes: ReadonlyMap<string, number>,
  kinds: Kinds,
): ExportedParent {
  const id = ids.get(remoteId)
  if (id !== undefined) return {field, remoteId, id}
  const live = known.get(remoteId)
  const tells =
    live?.name !== undefined && live.kind.parent === undefined && !/^\d+$|\//.test(live.name) && namesakes.get(nameIn(live, kinds)) === 1
  return {field, remoteId, text: tells ? (live.name ?? remoteId) : remoteId}
}

/** A variable of the environment is given to every stack that asks for it: two stacks never ask for one by accident. */
function withOwnVariables(stack: ExportedStack, taken: Set<string>): ExportedStack {
  const objects = stack.objects.map(it => {
    const secrets = Object.entries(it.secrets).map(([field, name]) => {
      const own = taken.has(name) ? `${stack.id}_${name}` : name
      taken.add(own)
      return [field, own] as const
    })
    return {...it, secrets: Object.fromEntries(secrets)}
  })
  return {...stack, objects}
}

const siblingKey = (kind: string, parent: string | undefined, name: string | undefined): string => JSON.stringify([kind, parent, name])

const nameIn = ({kind, remoteId, name}: LiveObject, kinds: Kinds): string => siblingKey(kind.name, parentRemoteId({kinds}, remoteId), name)

function countedNames(all: readonly LiveObject[], kinds: Kinds): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const it of all) counts.set(nameIn(it, kinds), (counts.get(nameIn(it, kinds)) ?? 0) + 1)
  return counts
}

/** By kind, parent, name, id; parents by their names, so that the order stays when everything is made anew. */
function byPlace(kinds: Kinds, known: ReadonlyMap<string, LiveObject>): (a: LiveObject, b: LiveObject) => number {
  const order = [...kinds.keys()]
  const namesAbove = ({remoteId}: LiveObject): string => {
    const above = parentRemoteId({kinds}, remoteId)
    const parent = above === undefined ? undefined : known.get(above)
    return parent === undefined ? '' : `${namesAbove(parent)}\0${parent.name ?? ''}`
  }
  const above = new Map<string, string>()
  const placeOf = (it: LiveObject): string => {
    const place = above.get(it.remoteId) ?? namesAbove(it)
    above.set(it.remoteId, place)
    return place
  }
  return (a, b) =>
    order.indexOf(a.kind.name) - order.indexOf(b.kind.name) ||
    byText(placeOf(a), placeOf(b)) ||
    byRemoteId(parentRemoteId({kinds}, a.remoteId) ?? '', parentRemoteId({kinds}, b.remoteId) ?? '') ||
    byText(a.name ?? '', b.name ?? '') ||
    byRemoteId(a.remoteId, b.remoteId)
}

/** `svcctl import --from-tfstate --dir`: what a Terraform state has, as code that declares it, with ledgers that have it already. */
import {kinds} from '../../backends/kinds.ts'
import type {JsonObject} from '../../base/json.ts'
import {diffFields} from '../../engine/model/diff.ts'
import {parentRemoteId} from '../../engine/model/kind.ts'
import type {LiveObject} from '../../engine/model/live.ts'
import type {ExportedObject} from '../../export/model.ts'
import type {NamedStateObject, StateObject, StateObjects} from '../../takeover/state-objects.ts'
import {terraformId} from '../../takeover/terraform-id.ts'
import {lettingGoOf, type StateDifference, type TakeoverDone} from '../import/takeover.ts'
import {exportLive} from './export.ts'
import type {ExportTools} from './export-write.ts'

export interface TakeoverCodeWish {
  /** Absolute. */
  readonly dir: string
  readonly lockTimeoutMs: number
}

export interface TakeoverCodeDone extends TakeoverDone {
  /** In the folder. */
  readonly files: readonly string[]
  readonly requests: {readonly used: number}
}

/** @throws what an export throws: nothing is written then */
export async function takeOverAsCode(
  tools: ExportTools,
  state: StateObjects,
  {dir, lockTimeoutMs}: TakeoverCodeWish,
): Promise<TakeoverCodeDone> {
  const {leftOut} = state
  const finder = new Finder(state)
  const roots = [...new Set([...state.objects.map(it => it.remoteId), ...state.named.map(it => it.parent)].map(rootOf))]
  const {document, model, recorded} = await exportLive(tools, {
    what: [],
    chosen: {
      apis: ['cloud'],
      isAll: false,
      picks: true,
      wants: kind => finder.kinds.has(kind.name),
      // One that is gone is said to be, and the rest is taken over.
      scope: live => roots.filter(path => live.some(it => it.remoteId === path)),
      covers: live => finder.of(live) !== undefined,
      idsOf: objects =>
        new Map(
          objects.flatMap(it => {
            const from = finder.of(it)?.from
            return from === undefined ? [] : [[it.remoteId, terraformId(from)]]
          }),
        ),
    },
    dir,
    to: 'typescript',
    split: 'subscription',
    tables: TABLES,
    adopt: 'ledger',
    allFields: false,
    overwrite: false,
    prove: true,
    lockTimeoutMs,
  })
  const written = model.stacks.flatMap(it => it.objects)
  const taken = written.flatMap(object => {
    const source = finder.of(object)
    return source === undefined ? [] : [{object, source}]
  })
  const there = new Set([...written, ...model.undeclarable].map(it => it.remoteId))
  const missing = [
    ...state.objects.filter(it => !there.has(it.remoteId)).map(({from, kind, remoteId}) => ({from, kind, remoteId})),
    ...state.named.filter(it => !taken.some(({source}) => source === it)).map(({from, kind, parent}) => ({from, kind, remoteId: parent})),
  ]
  const owned = recorded ? taken : []
  const lettingGo = lettingGoOf(
    owned.map(it => it.source.from).filter(from => !missing.some(it => it.from === from)),
    state,
  )
  return {
    imported: owned.map(({object: {stack, address, kind, remoteId}, source: {from}}) => ({
      stack,
      address,
      kind: kind.name,
      remoteId,
      from,
      differs: [],
    })),
    skipped: [
      ...model.undeclarable.map(it => ({address: it.remoteId, reason: it.problems.join('; ')})),
      ...(recorded ? [] : taken.map(({source: {from}}) => ({address: from, reason: NOT_RECORDED}))),
      ...lettingGo.notYet,
    ],
    differs: taken.flatMap(({object, source}) => differencesOf(object, source.values)),
    missing,
    leftOut,
    proof: taken.length === 0 ? 'not run' : document.proof === 'adopts' ? 'differs' : document.proof,
    stateRm: lettingGo.commands,
    files: document.files,
    requests: {used: document.requests?.used ?? 0},
  }
}

const NOT_RECORDED = 'a plan of the code would do more than adopt, and no ledger was written: svcctl plan in the folder says what'

/** Alike objects from which on they stand in a table, as `svcctl export` has it. */
const TABLES = 3

const rootOf = (remoteId: string): string => {
  const above = parentRemoteId({kinds}, remoteId)
  return above === undefined ? remoteId : rootOf(above)
}

/** Which object of the state a live one is: by its id, or by its name where the state has no id. */
class Finder {
  readonly kinds: ReadonlySet<string>
  readonly #byId: ReadonlyMap<string, StateObject>
  readonly #byName: ReadonlyMap<string, NamedStateObject>

  constructor({objects, named}: StateObjects) {
    this.kinds = new Set([...objects, ...named].map(it => it.kind))
    this.#byId = new Map(objects.map(it => [it.remoteId, it]))
    this.#byName = new Map(named.map(it => [placeOf(it.kind, it.parent, it.name), it]))
  }

  of({kind, remoteId, name}: Pick<LiveObject | ExportedObject, 'kind' | 'remoteId' | 'name'>): StateObject | NamedStateObject | undefined {
    return this.#byId.get(remoteId) ?? this.#byName.get(placeOf(kind.name, parentRemoteId({kinds}, remoteId), name))
  }
}

const placeOf = (kind: string, parent: string | undefined, name: string | undefined): string => JSON.stringify([kind, parent, name])

/** Where what is live is another value than the state has; of what the code leaves out nobody says anything. */
function differencesOf({kind, stack, address, spec, unlisted, leftOut}: ExportedObject, values: JsonObject): StateDifference[] {
  const said = Object.fromEntries(Object.entries(values).filter(([field]) => !leftOut.includes(field)))
  const {changes} = diffFields({kind, declared: said, live: {...spec, ...unlisted}, ignore: [], secretState: () => 'same'})
  return changes.map(({path, before, after}) => ({
    stack,
    address,
    path,
    ...(after === undefined ? {} : {before: after}),
    ...(before === undefined ? {} : {after: before}),
  }))
}

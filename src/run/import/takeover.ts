/** `svcctl import --from-tfstate`: what a Terraform state has goes into the ledgers; neither the file nor an object changes. */

import {resolve} from 'node:path'
import {kinds} from '../../backends/kinds.ts'
import {AppError, EXIT} from '../../base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {shellWord} from '../../base/shell-word.ts'
import {UsageError} from '../../base/usage-error.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {diffFields} from '../../engine/model/diff.ts'
import {parentRemoteId, remoteIdOf} from '../../engine/model/kind.ts'
import type {LiveObject} from '../../engine/model/live.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import type {ExpectedObject, Observation} from '../../engine/observe/observation.ts'
import {fileOf} from '../../ledger/backends/registry.ts'
import {meetByName} from '../../takeover/meet.ts'
import {removeCommand} from '../../takeover/read-state.ts'
import type {NamedStateObject, NotTakenOver, StateObject, StateObjects} from '../../takeover/state-objects.ts'
import {planWorkspace} from '../plan/plan.ts'
import {accountsOf, namedAccounts} from '../workspace/accounts.ts'
import {observeWorkspace} from '../workspace/observe-workspace.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {chosen, type Imported, importObjects, type Skipped} from './import.ts'
import {withImports} from './import-pairs.ts'

/** A stack of Terraform's keeps its state where svcctl keeps the ledger of that stack. */
export class StateIsLedgerError extends AppError {
  constructor(file: string, stack: string) {
    const aside = `${file}.terraform`
    super(`${file} is where the ledger of stack ${stack} will be, and svcctl never writes to the state of another program`, {
      code: 'E_TFSTATE_PLACE',
      exit: EXIT.usage,
      suggestions: [`mv ${shellWord(file)} ${shellWord(aside)}`, `svcctl import --from-tfstate ${shellWord(aside)}`],
    })
  }
}

/** @param file - the state, as it was named @throws StateIsLedgerError */
export function assertNoLedger(cwd: string, file: string, stacks: readonly Pick<StackDeclarations, 'name' | 'ledger'>[]): void {
  const holder = stacks.find(({ledger}) => {
    const own = fileOf(ledger)
    return own !== undefined && resolve(cwd, own) === resolve(cwd, file)
  })
  if (file !== '-' && holder !== undefined) throw new StateIsLedgerError(file, holder.name)
}

export interface TakenOver extends Imported {
  /** Terraform's address. */
  readonly from: string
}

export interface StateDifference {
  readonly stack: string
  readonly address: string
  readonly path: string
  /** As the state has it. */
  readonly before?: Json
  /** As it is. */
  readonly after?: Json
}

export interface Missing {
  /** Terraform's address. */
  readonly from: string
  readonly kind: string
  readonly remoteId: string
}

export interface TakeoverDone {
  readonly imported: readonly TakenOver[]
  readonly skipped: readonly Skipped[]
  /** Live values that are others than the state's. */
  readonly differs: readonly StateDifference[]
  /** In the state, and gone. */
  readonly missing: readonly Missing[]
  readonly leftOut: readonly NotTakenOver[]
  readonly proof: 'empty' | 'differs' | 'not run'
  /** For Terraform to let go of what is taken over. */
  readonly stateRm: readonly string[]
}

/** An object of the state that is there, and the declaration that means it. */
interface Met {
  readonly key: Key
  readonly object: Omit<StateObject, 'remoteId'>
  readonly live: LiveObject
}

/**
 * Under the locks of the ledgers.
 *
 * @param values - what the ledgers get where the state says otherwise than what is live
 * @throws UsageError, ImportOwnedError and what importing throws: nothing was recorded
 */
export async function takeOver(
  workspace: Workspace,
  {objects, named, leftOut, deposed}: StateObjects,
  {values, onRecord}: {readonly values: 'live' | 'state'; readonly onRecord: () => void},
): Promise<TakeoverDone> {
  await assertOneAccount(workspace)
  const {free, elsewhere} = unowned(workspace, objects)
  const observation = await observeWorkspace(workspace, () => true, {expected: expectedOf(workspace, free)})
  const {met, missing, undeclared} = meetLive(observation, free, named, isReachable(workspace))
  const pairs = new Map(met.map(it => [it.key, it.live.remoteId]))
  const differs = met.flatMap(differencesOf)
  const keeps = (operation: Operation) =>
    values === 'live'
      ? operation
      : withStateValues(
          operation,
          met.find(it => it.key === keyOfOperation(operation)),
        )
  const done =
    pairs.size === 0
      ? {imported: [], skipped: []}
      : await importObjects(workspace.seen({stacks: withImports(workspace.stacks, pairs)}), {pairs, onRecord, keeps})
  const fromOf = new Map(met.map(it => [it.key, it.object.from]))
  const owned = new Set([...done.imported.map(keyOfOperation), ...done.skipped.map(it => it.address)].map(it => fromOf.get(it)))
  const open = new Set([...missing, ...undeclared].map(it => it.from))
  const lettingGo = lettingGoOf(
    [...owned].flatMap(from => (from === undefined || open.has(from) ? [] : [from])),
    {deposed},
  )
  // What stacks beside these declare is not looked for.
  const nobody = workspace.others.length > 0 ? 'no declaration of the chosen stacks' : 'no declaration'
  const left: Skipped[] = [
    ...undeclared.map(it => ({address: it.from, reason: `${nobody} means ${it.remoteId ?? `it in ${it.parent ?? ''}`}`})),
    ...elsewhere.map(({object, owner}) => ({address: object.from, reason: `stack ${owner} has ${object.remoteId} in its ledger`})),
    ...lettingGo.notYet,
  ]
  return {
    imported: done.imported.map(it => ({...it, from: fromOf.get(keyOfOperation(it)) ?? ''})),
    skipped: [...done.skipped, ...left],
    differs,
    missing: missing.map(({from, kind, remoteId, parent}) => ({from, kind, remoteId: remoteId ?? parent ?? ''})),
    leftOut,
    proof: pairs.size === 0 ? 'not run' : await proofOf(workspace, pairs),
    stateRm: lettingGo.commands,
  }
}

/**
 * How Terraform lets go of addresses: with one that stands for another object as well, it would lose that one too, which
 * nobody else has.
 */
export function lettingGoOf(addresses: readonly string[], {deposed}: Pick<StateObjects, 'deposed'>) {
  const unique = [...new Set(addresses)].sort()
  return {
    commands: unique.filter(it => !deposed.has(it)).map(removeCommand),
    notYet: unique
      .filter(it => deposed.has(it))
      .map((from): Skipped => {
        const reason = `Terraform has yet to delete another object under this address: let it do that first, and then let go of it: ${removeCommand(from)}`
        return {address: `${from} (deposed)`, reason}
      }),
  }
}

/** A state does not say in which account its objects are, and two accounts may each have one of the same id. */
async function assertOneAccount(workspace: Workspace): Promise<void> {
  // Who has one key has one account: nobody is asked.
  const ofCloud = (accounts: Plan['accounts']) => Object.entries(accounts).filter(([name]) => name === 'cloud' || name.endsWith(':cloud'))
  if (ofCloud(accountsOf(workspace)).length < 2) return
  const accounts = ofCloud(await namedAccounts(workspace)).map(([, it]) => it.account ?? `${it.address} ${it.keyHash}`)
  if (new Set(accounts).size < 2) return
  throw new UsageError('the stacks speak to several cloud accounts, and a state does not say in which of them its objects are', [
    'Name the stacks of the account that the state is of with --stack, and take over one account after the other.',
  ])
}

/** What stacks that are no part of this run have is theirs, and is not looked at. */
function unowned(workspace: Workspace, objects: readonly StateObject[]) {
  const {otherLedgers, accountOf} = workspace
  const home = homeOf(workspace)
  const isNear = (stack: string) => home === undefined || accountOf(stack, 'cloud') === accountOf(home, 'cloud')
  const owners = new Map(
    otherLedgers.flatMap(({stack, entries}) => (isNear(stack) ? [...entries.values()].map(it => [it.remoteId, stack] as const) : [])),
  )
  const free: StateObject[] = []
  const elsewhere: {readonly object: StateObject; readonly owner: string}[] = []
  for (const object of objects) {
    const owner = owners.get(object.remoteId)
    if (owner === undefined) free.push(object)
    else elsewhere.push({object, owner})
  }
  return {free, elsewhere}
}

/** A stack by whose connection objects are looked up that nobody declares. */
const homeOf = (workspace: Workspace): string | undefined =>
  workspace.stacks.find(it => workspace.connectionOf(it.name, 'cloud') !== undefined)?.name

const isReachable = (workspace: Workspace): boolean => homeOf(workspace) !== undefined

/** A plan over the same facts: no list is read again. */
async function proofOf(workspace: Workspace, pairs: ReadonlyMap<Key, string>): Promise<'empty' | 'differs'> {
  await workspace.loadLedgers()
  const {plan} = await planWorkspace(workspace, {options: {}, choice: chosen(pairs)})
  return plan.operations.every(it => it.action === 'no-op') ? 'empty' : 'differs'
}

/** What no ledger has yet, to be looked up, and the declarations that can only mean one of it by what both call it. */
function expectedOf(workspace: Workspace, objects: readonly StateObject[]): ExpectedObject[] {
  const {stacks, ledgers} = workspace
  const known = new Set([...ledgers.values()].flatMap(({entries}) => [...entries.values()].map(it => it.remoteId)))
  const fresh = objects.filter(it => !known.has(it.remoteId))
  const declarations = stacks.flatMap(it => it.declarations)
  const met = meetByName(declarations, fresh, kinds)
  const meaning = new Map([...met].map(([key, it]) => [it, key]))
  const byKey = new Map(declarations.map(it => [it.key, it]))
  const home = homeOf(workspace)
  return fresh.flatMap((object): ExpectedObject[] => {
    const {kind, remoteId} = object
    const declaration = byKey.get(meaning.get(object) ?? '')
    const stack = declaration?.stack ?? home
    if (stack === undefined) return []
    const isFree = declaration !== undefined && !ledgers.get(stack)?.entries.has(declaration.address)
    return [{stack, kind, remoteId, ...(isFree ? {meantBy: declaration.key} : {})}]
  })
}

interface Meeting {
  readonly met: readonly Met[]
  readonly missing: readonly (Omit<StateObject, 'remoteId'> & {readonly remoteId?: string})[]
  readonly undeclared: Meeting['missing']
}

/** What of the state is there, and which declarations turned out to mean it. */
function meetLive(
  {pairs, collections}: Observation,
  objects: readonly StateObject[],
  named: readonly NamedStateObject[],
  reachable: boolean,
): Meeting {
  const live = new Map(collections.flatMap(it => it.objects).map(it => [it.remoteId, it]))
  const holders = new Map<string, Key>()
  for (const [key, {match, context}] of pairs) if (match !== undefined && !context) holders.set(match.live.remoteId, key)
  const byName = new Map([...live.values()].map(it => [placeOf(it.kind.name, parentRemoteId({kinds}, it.remoteId), it.name), it]))
  const read = new Set(
    collections.flatMap(({kind, parent}) => {
      const holder = kind.parent && kinds.get(kind.parent.kind)
      return holder === undefined ? [] : [`${kind.name} ${remoteIdOf(holder, parent)}`]
    }),
  )
  const met: Met[] = []
  const missing: Meeting['missing'][number][] = []
  const undeclared: Meeting['missing'][number][] = []
  const sort = (object: Meeting['missing'][number], there: LiveObject | undefined, isRead: boolean) => {
    const key = there && holders.get(there.remoteId)
    if (there !== undefined && key !== undefined) met.push({key, object, live: there})
    else if (there === undefined && isRead) missing.push(object)
    else undeclared.push(object)
  }
  for (const it of objects) sort(it, live.get(it.remoteId), reachable)
  for (const it of named) sort(it, byName.get(placeOf(it.kind, it.parent, it.name)), read.has(`${it.kind} ${it.parent}`))
  return {met, missing, undeclared}
}

const placeOf = (kind: string, parent: string | undefined, name: string | undefined): string => JSON.stringify([kind, parent, name])

/** Where what is live is another value than the state has. */
function differencesOf({key, object, live}: Met): StateDifference[] {
  const {changes} = diffFields({kind: live.kind, declared: object.values, live: live.fields, ignore: [], secretState: () => 'same'})
  const at = key.indexOf(':')
  return changes.map(({path, before, after}) => ({
    stack: key.slice(0, at),
    address: key.slice(at + 1),
    path,
    ...(after === undefined ? {} : {before: after}),
    ...(before === undefined ? {} : {after: before}),
  }))
}

/** `--values state`: what is declared and differs in the state is recorded as the state has it. */
function withStateValues(operation: Operation, met: Met | undefined): Operation {
  const {declared} = operation
  if (met === undefined || declared === undefined) return operation
  const fields = new Set(differencesOf(met).map(it => it.path.split('/')[1] ?? ''))
  const spec: JsonObject = Object.fromEntries(
    Object.entries(declared.spec).map(([field, value]) => {
      const stated = fields.has(field) ? met.object.values[field] : undefined
      return [field, stated === undefined ? value : isJsonObject(stated) && isJsonObject(value) ? {...value, ...stated} : stated]
    }),
  )
  return {...operation, declared: {...declared, spec}}
}

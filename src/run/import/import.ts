/**
 * `svcctl import`: what is declared and live already is taken into the ledgers as it is. Nothing but GETs is sent, no
 * code is touched, and all of it happens under the locks of the ledgers, or none of it.
 */
import type {AuditChange, AuditEvent} from '../../audit/entry.ts'
import {kinds} from '../../backends/kinds.ts'
import {AppError, EXIT, type Problem} from '../../base/errors.ts'
import {parentRemoteId, remoteIdOf} from '../../engine/model/kind.ts'
import {Ownership} from '../../engine/model/ownership.ts'
import type {Change, Operation} from '../../engine/model/plan.ts'
import {type Key, keyOf, spokenProblems} from '../../engine/model/value.ts'
import type {Choice} from '../../engine/observe/choice.ts'
import type {Observation, Paired} from '../../engine/observe/observation.ts'
import type {BuiltPlan} from '../../engine/plan/build.ts'
import {asFound} from '../../engine/plan/take-over.ts'
import {recordPlan} from '../apply/apply.ts'
import {assertNothingOpen} from '../apply/open-requests.ts'
import {shownChanges} from '../audit/audit-operations.ts'
import {planWorkspace} from '../plan/plan.ts'
import {observeWorkspace} from '../workspace/observe-workspace.ts'
import type {Workspace} from '../workspace/workspace.ts'
import {type ImportPairs, ImportPairsError} from './import-pairs.ts'

export interface Imported {
  readonly stack: string
  readonly address: string
  readonly kind: string
  readonly remoteId: string
  /** Fields whose declared value is another one than the live one, which the ledger has now. */
  readonly differs: readonly Pick<Change, 'path' | 'before' | 'after'>[]
}

export interface Skipped {
  readonly address: string
  readonly reason: string
}

export interface ImportDone {
  readonly imported: readonly Imported[]
  readonly skipped: readonly Skipped[]
}

/** What is to be imported is not there. */
export class ImportAbsentError extends AppError {
  constructor(problems: readonly Problem[]) {
    super(problems.map(it => `${it.address ?? ''}: ${it.message}`).join('\n'), {
      lines: true,
      code: 'E_IMPORT_ABSENT',
      exit: EXIT.notFound,
      problems,
      suggestions: ['Look up the ids: svcctl cloud databases, svcctl cloud subscriptions. Nothing was imported.'],
    })
  }
}

/** What is to be imported is somebody's already. */
export class ImportOwnedError extends AppError {
  constructor(problems: readonly Problem[]) {
    super(problems.map(it => `${it.address ?? ''}: ${it.message}`).join('\n'), {
      lines: true,
      code: 'E_IMPORT_OWNED',
      exit: EXIT.refused,
      problems,
      suggestions: [
        'Move it between stacks with svcctl transfer, give it its new address with a moved block, or take it out of the ledger first: svcctl forget ADDRESS. Nothing was imported.',
      ],
    })
  }
}

export interface ImportWishes {
  /** What is meant by which declaration, as the workspace has them declared too (`withImports`); absent: whatever a plan would adopt. */
  readonly pairs: ImportPairs | undefined
  /** Called right before the ledgers are written. */
  readonly onRecord: () => void
  /** What is recorded instead of the live values. */
  readonly keeps?: (operation: Operation) => Operation
}

/**
 * Under the locks of the ledgers.
 *
 * @throws ImportOwnedError, ImportPairsError, ImportAbsentError, UnsettledRunError: nothing was recorded
 */
export async function importObjects(workspace: Workspace, {pairs, onRecord, keeps = it => it}: ImportWishes): Promise<ImportDone> {
  const {open, skipped} = pairs === undefined ? {open: undefined, skipped: []} : unowned(workspace, pairs)
  if (open?.size === 0) return {imported: [], skipped}
  assertNothingOpen(workspace)
  if (open !== undefined) await assertThere(workspace, open)
  const built = await planWorkspace(workspace, {options: {}, choice: chosen(open)})
  const {found, left} = sorted(built, open === undefined)
  const refused = open === undefined ? [] : left
  if (refused.length > 0)
    throw new ImportOwnedError(
      spoken(
        workspace,
        refused.map(({stack, address, reason}) => ({address: keyOf(stack, address), message: reason})),
      ),
    )
  if (found.length > 0) {
    onRecord()
    const operations = found.map(it => keeps(asFound(it, 'imported')))
    const events = found.map(it => ({stack: it.stack, event: importEvent(it)}))
    await recordPlan(workspace, {...built, plan: {...built.plan, operations}}, {outputs: true, events})
  }
  return {
    imported: found.map(it => ({
      stack: it.stack,
      address: it.address,
      kind: it.kind,
      remoteId: it.remoteId ?? '',
      differs: differing(it),
    })),
    skipped: [...skipped, ...left.map(({stack, address, reason}) => ({address: keyOf(stack, address), reason}))],
  }
}

/** Fields that are declared otherwise than they are live; secrets are none. */
const differing = ({changes, secrets = []}: Operation): AuditChange[] =>
  shownChanges(changes.filter(({path}) => !secrets.some(it => it.path === path)))

/** Of what is declared otherwise the ledger has now what is live. */
const importEvent = (operation: Operation): AuditEvent => ({
  event: 'import',
  address: operation.address,
  ...(operation.remoteId === undefined ? {} : {remoteId: operation.remoteId}),
  action: 'adopt',
  state: 'done',
  changes: differing(operation).map(({path, before}) => ({path, ...(before === undefined ? {} : {after: before})})),
})

/** Nothing but these is looked at; absent: everything. */
export const chosen = (pairs: ImportPairs | undefined): Choice => ({
  wants: key => pairs?.has(key) ?? true,
  over: () => ({keeps: () => true, accepts: () => false, permissions: {allowDestroy: [], adopt: []}}),
})

const spoken = ({stacks}: Workspace, problems: readonly Problem[]): Problem[] =>
  spokenProblems(
    problems,
    stacks.map(it => it.name),
  )

/** What no ledger has; what its own one has under its address already needs nothing. @throws ImportOwnedError */
function unowned(workspace: Workspace, pairs: ImportPairs): {readonly open: ImportPairs; readonly skipped: readonly Skipped[]} {
  const {ledgers, otherLedgers, accountOf} = workspace
  const ownership = new Ownership({ledgers, otherLedgers, accountOf, kinds})
  const open = new Map<Key, string>()
  const skipped: Skipped[] = []
  const problems: Problem[] = []
  for (const {key, stack, address, kind} of workspace.stacks.flatMap(it => it.declarations)) {
    const remoteId = pairs.get(key)
    const api = kinds.get(kind)?.api
    if (remoteId === undefined || api === undefined) continue
    const owner = ownership.of(stack, api, remoteId)
    const there = ledgers.get(stack)?.entries.get(address)
    if (owner?.stack === stack && owner.entry.address === address) skipped.push({address: key, reason: `the ledger has it: ${remoteId}`})
    else if (owner !== undefined)
      problems.push({address: key, message: `${remoteId} is in the ledger of stack ${owner.stack} as ${owner.entry.address}`})
    else if (there !== undefined)
      problems.push({address: key, message: `the ledger has another object under this address: ${there.remoteId}`})
    else open.set(key, remoteId)
  }
  if (problems.length > 0) throw new ImportOwnedError(spoken(workspace, problems))
  return {open, skipped}
}

/** @throws ImportPairsError for what is somewhere else than it is declared, ImportAbsentError for what is nowhere */
async function assertThere(workspace: Workspace, pairs: ImportPairs): Promise<void> {
  const observation = await observeWorkspace(workspace, key => pairs.has(key))
  const absent: Problem[] = []
  const misplaced: Problem[] = []
  for (const [key, remoteId] of pairs) {
    const pair = observation.pairs.get(key)
    if (pair === undefined || pair.match?.live.remoteId === remoteId) continue
    const holder = holderOf(workspace, observation, key, remoteId)
    const elsewhere = holder === undefined ? placeProblem(pair, remoteId) : `would mean ${remoteId}, as ${holder} does`
    if (elsewhere === undefined) absent.push({address: key, message: absence(pair, remoteId)})
    else misplaced.push({address: key, message: elsewhere})
  }
  if (misplaced.length > 0) throw new ImportPairsError(spoken(workspace, misplaced))
  if (absent.length > 0) throw new ImportAbsentError(spoken(workspace, absent))
}

/** Another declaration that means the same object: it has one owner. */
function holderOf({accountOf}: Workspace, {pairs}: Observation, key: Key, remoteId: string): Key | undefined {
  const own = pairs.get(key)?.declaration
  const api = own && kinds.get(own.kind)?.api
  const isIt = ({declaration, match}: Paired) =>
    match?.live.remoteId === remoteId && api !== undefined && accountOf(declaration.stack, api) === accountOf(own?.stack ?? '', api)
  return [...pairs].find(([other, it]) => other !== key && isIt(it))?.[0]
}

/** Why an object cannot be what is declared where it is. */
function placeProblem({declaration, parent, match}: Paired, remoteId: string): string | undefined {
  if (match !== undefined) return `means ${match.live.remoteId}, and not ${remoteId}`
  const kind = kinds.get(declaration.kind)
  const holder = kind?.parent && kinds.get(kind.parent.kind)
  if (holder === undefined || parent === undefined) return undefined
  const declared = remoteIdOf(holder, parent)
  return declared === parentRemoteId({kinds}, remoteId) ? undefined : `is declared in ${declared}, and ${remoteId} is not in it`
}

function absence({declaration, parent, doubt}: Paired, remoteId: string): string {
  const kind = kinds.get(declaration.kind)
  if (kind?.parent !== undefined && parent === undefined) return `its ${kind.parent.field} is not there, and so ${remoteId} is not in it`
  return doubt === undefined ? `there is no ${remoteId}` : `${remoteId}: ${doubt.reason}`
}

/** @param all - of everything declared: what needs no import is passed over */
function sorted({plan, observation}: BuiltPlan, all: boolean): {readonly found: readonly Operation[]; readonly left: readonly Operation[]} {
  const found: Operation[] = []
  const left: Operation[] = []
  for (const it of plan.operations) {
    if (it.declared === undefined) continue
    if (isFound(it, observation)) found.push(it)
    else if (!all || isLeft(it, observation)) left.push(it)
  }
  return {found, left}
}

/** Whether something would have been adopted, if it could be. */
const isLeft = ({stack, address, action, from}: Operation, {pairs}: Observation): boolean =>
  action === 'create' || from !== undefined || (action === 'blocked' && pairs.get(keyOf(stack, address))?.match?.found !== 'ledger')

/** Whether an object is there that no ledger has and nobody else declares. */
function isFound({stack, address, remoteId, elsewhere, from}: Operation, {pairs}: Observation): boolean {
  const match = pairs.get(keyOf(stack, address))?.match
  return remoteId !== undefined && elsewhere === undefined && from === undefined && (match?.found === 'import' || match?.found === 'name')
}

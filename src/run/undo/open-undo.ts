/** What an undo begins with: the files of the run, and whom its stacks speak to. */
import {variableLookup} from '../../declaration/read/variable-lookup.ts'
import type {Declaration, StackDeclarations} from '../../engine/model/declaration.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {keyOf} from '../../engine/model/value.ts'
import {othersOf} from '../../engine/plan/recheck.ts'
import {openRequests} from '../apply/open-requests.ts'
import type {Host} from '../host/host.ts'
import {assertOwnLedgers} from '../journal/own-ledgers.ts'
import {beforeOf, findRun} from '../journal/run-files.ts'
import {planOf} from '../plan/run-plan.ts'
import {assertTarget, hideSecretsOf, planSecrets} from '../plan/saved-plan.ts'
import {inStateFile} from '../workspace/declarations.ts'
import type {Workspace, WorkspaceOptions} from '../workspace/workspace.ts'
import {type UndoDone, UndoLostError, UndoUnfinishedError, type UndoWish, undoRun} from './undo.ts'

export interface OpenedUndo extends Pick<WorkspaceOptions, 'stacks' | 'others' | 'variable'> {
  undo(workspace: Workspace, wish: Pick<UndoWish, 'recreate' | 'options' | 'validForMs'>): Promise<UndoDone>
}

/** @throws UnknownRunError (11), UndoLostError (11), UndoUnfinishedError (3), RunPlanError; its `undo`: OtherLedgerRunError (3) */
export async function openUndo(host: Host, run: string, {stateFile}: {readonly stateFile: string | undefined}): Promise<OpenedUndo> {
  const story = findRun(host, run)
  if (!story.ended) throw new UndoUnfinishedError(run)
  const plan = await planOf(host, story.header)
  if (plan === undefined) throw new UndoLostError(run)
  const names = [...plan.stacks, ...(plan.otherStacks ?? [])].map(it => it.name)
  const variable = await variableLookup({cwd: host.cwd, environment: host.environment.all, variables: []}, names)
  // Nothing of them is sent; a server may repeat them.
  hideSecretsOf(plan, variable, planSecrets(variable, [], host.redactor), host.redactor)
  const image = beforeOf(host, run)
  return {
    stacks: stacksOf(plan).map(it => inStateFile(it, stateFile)),
    others: othersOf(plan),
    variable,
    async undo(workspace, wish) {
      await assertTarget(workspace, {...plan, accounts: story.header.accounts})
      assertOwnLedgers(story, workspace.ownLedgers)
      return undoRun(workspace, {...wish, story, plan, image, notes: await openRequests(workspace)})
    },
  }
}

/** The stacks of a run as far as it is asked which APIs they speak to: a ledger may have nothing of them any more. */
const stacksOf = ({stacks, operations}: Plan): StackDeclarations[] =>
  stacks.map(({name, targets, ledger}) => ({
    name,
    targets,
    ledger,
    declarations: operations.filter(it => it.stack === name || it.from?.stack === name).map(it => touched(name, it)),
    outputs: [],
    moved: [],
    removed: [],
    warnings: [],
  }))

const touched = (stack: string, {address, kind}: Operation): Declaration => ({
  stack,
  address,
  key: keyOf(stack, address),
  kind,
  spec: {},
  dependsOn: [],
  policy: {exclusive: [], removal: 'delete', ignoreChanges: [], preventDestroy: false, createBeforeDestroy: false},
  outputs: [],
  source: {},
  clearSecrets: [],
})

/** Which run `--resume` means where none is named: folders of runs are shared by places, accounts and apps. */
import {AppError} from '../../base/errors.ts'
import type {LedgerVersion} from '../../engine/model/ledger.ts'
import type {Plan, PlannedStack} from '../../engine/model/plan.ts'
import {keyOf} from '../../engine/model/value.ts'
import {atStateFile} from '../../ledger/backends/open-ledger.ts'
import type {Host} from '../host/host.ts'
import {type LedgerHere, ledgerPlace, OtherLedgerRunError, ownStacks} from '../journal/own-ledgers.ts'
import {knownRuns, openRuns, type RunStory, UnknownRunError} from '../journal/run-files.ts'
import {type OpenedStores, openStores} from '../ledgers/ledger-stores.ts'
import type {LedgerOf} from '../ledgers/other-ledgers.ts'
import {planOf, RunPlanError} from '../plan/run-plan.ts'
import {PlanTargetError} from '../plan/saved-plan.ts'
import {apisOfKinds} from '../workspace/needed-apis.ts'
import type {Connect} from '../workspace/workspace.ts'

export interface MeantHere {
  /** `--state` */
  readonly stateFile: string | undefined
  readonly connect: Connect
}

/**
 * The newest run that did not end, of the ledgers and the APIs that are meant here. Asks no API: of two that fit, the one that was
 * begun with the very credentials of now.
 * @throws UnknownRunError naming those of other places; PlanTargetError; JournalDamagedError, JournalVersionError, JournalMissingError
 */
export async function runToResume(host: Host, here: MeantHere): Promise<RunStory> {
  const {stories, unreadable} = openRuns(host)
  const elsewhere: string[] = []
  let maybe: RunStory | undefined
  let refused: PlanTargetError | undefined
  for (const story of stories.filter(it => !it.ended).toReversed()) {
    const fit = await fitOf(host, story, here)
    if (fit === 'here') return story
    if (fit === 'maybe') maybe ??= story
    else if (fit instanceof PlanTargetError) refused ??= fit
    else elsewhere.push(fit.message)
  }
  if (maybe !== undefined) return maybe
  // These ledgers are what was meant, and it is the configuration that is another one.
  if (refused !== undefined) throw refused
  throw unreadable.at(-1)?.error ?? new UnknownRunError(undefined, [...knownRuns(host)], elsewhere)
}

type Fit = 'here' | 'maybe' | OtherLedgerRunError | PlanTargetError

/** Without its plan nobody can resume it, and whoever tries says so. */
async function fitOf(host: Host, story: RunStory, here: MeantHere): Promise<Fit> {
  let plan: Plan | undefined
  try {
    plan = await planOf(host, story.header)
  } catch (error) {
    if (!(error instanceof RunPlanError)) throw error
  }
  if (plan === undefined) return 'here'
  try {
    const others = await withOtherLedgers(host, story, plan.stacks, here)
    if (others.length > 0) return new OtherLedgerRunError(story.header.run, others)
  } catch (error) {
    // What is wrong with where its ledgers would be is for whoever opens them to say.
    if (error instanceof AppError) return 'maybe'
    throw error
  }
  return fitOfTarget(story, plan, here)
}

async function withOtherLedgers(host: Host, story: RunStory, stacks: readonly PlannedStack[], {stateFile}: MeantHere): Promise<string[]> {
  const stores = openStores(host, [])
  try {
    const known = new Map<string, LedgerHere>()
    for (const stack of stacks) {
      const ledger = await ledgerHere(host, stores, story, stack, stateFile)
      if (ledger !== undefined) known.set(stack.name, ledger)
    }
    const own = ownStacks(story, known)
    return story.header.stacks.filter(it => !own.has(it))
  } finally {
    await stores.close()
  }
}

/** It is read only where its place is another one: it may have been brought there. `undefined`: nobody can tell that it was. */
async function ledgerHere(
  {cwd}: Host,
  stores: OpenedStores,
  {header}: RunStory,
  {name, ledger}: PlannedStack,
  stateFile: string | undefined,
): Promise<LedgerHere | undefined> {
  const stack: LedgerOf = {name, ledger: stateFile === undefined ? ledger : atStateFile(ledger, name, stateFile)}
  const place = ledgerPlace(cwd, stack.ledger, stores.keyOf(stack))
  const began = header.ledgers?.[name]
  if (began === undefined || began === place.place) return {...place, version: UNREAD}
  try {
    return {...place, version: await stores.other(stack).load()}
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

const UNREAD: LedgerVersion = {serial: 0, lineage: ''}

/** What cannot be reached, or is reached with other credentials, may be the same: whoever resumes it finds out, and says what is not. */
async function fitOfTarget({header}: RunStory, plan: Plan, {connect}: MeantHere): Promise<Fit> {
  let fit: 'here' | 'maybe' = 'here'
  for (const {name, targets} of plan.stacks) {
    for (const api of apisOfKinds(plan.operations.flatMap(it => (it.stack === name || it.from?.stack === name ? it.kind : [])))) {
      const was = header.accounts[keyOf(name, api)] ?? header.accounts[api]
      try {
        const {address, keyHash} = await connect(api, targets[api]?.profile)
        if (was !== undefined && was.address !== address) return new PlanTargetError({api, was: was.address, is: address})
        if (was?.keyHash !== keyHash) fit = 'maybe'
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        fit = 'maybe'
      }
    }
  }
  return fit
}

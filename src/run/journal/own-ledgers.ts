/**
 * Which stacks of a run somebody works on. One stack may have a ledger for each place that it is applied to (`--state`, an
 * address for each environment), and they share a folder of runs: what a run left belongs into the ledger that it began with.
 */
import {isAbsolute, relative, resolve} from 'node:path'
import {AppError, EXIT} from '../../base/errors.ts'
import type {LedgerLocation} from '../../engine/model/declaration.ts'
import type {DeadRun} from '../../engine/model/journal.ts'
import {type LedgerVersion, type MadeVersion, sinceVersion} from '../../engine/model/ledger.ts'
import {sha256} from '../../engine/model/live.ts'
import type {Plan} from '../../engine/model/plan.ts'
import {fileOf} from '../../ledger/backends/registry.ts'

/** A ledger as runs tell it from others of its stack. */
export interface LedgerHere {
  readonly place: string
  /** The place says something on this machine only: a file outside the project. */
  readonly local: boolean
  readonly version: MadeVersion
}

/** @param key - what makes two ways to name a ledger one; a file is named as from its folder, which may be moved */
export function ledgerPlace(cwd: string, ledger: LedgerLocation, key: string): Pick<LedgerHere, 'place' | 'local'> {
  const file = fileOf(ledger)
  if (file === undefined) return {place: sha256(key), local: false}
  const path = relative(cwd, resolve(cwd, file))
  return {place: sha256(path), local: path.startsWith('..') || isAbsolute(path)}
}

/** What says of a run which ledgers it began with, and which versions of them it knew last. */
export interface RunWithLedgers extends Pick<DeadRun, 'versions'> {
  readonly header: {readonly stacks: readonly string[]; readonly ledgers?: Readonly<Record<string, string>>}
}

/** The stacks of the run whose ledgers are these: where they were, or brought from there since. */
export const ownStacks = ({header, versions}: RunWithLedgers, here: ReadonlyMap<string, LedgerHere>): ReadonlySet<string> =>
  new Set(
    header.stacks.filter(stack => {
      const ledger = here.get(stack)
      if (ledger === undefined) return false
      const began = header.ledgers?.[stack]
      return began === undefined || began === ledger.place || cameFrom(versions.get(stack), ledger.version)
    }),
  )

/** Its process works on, and has the lock of another of its stacks: what comes of that is for it to write down. */
export const mayGoOn = (run: RunWithLedgers & {readonly alive: boolean}, here: ReadonlyMap<string, LedgerHere>): boolean =>
  run.alive && ownStacks(run, here).size < run.header.stacks.length

/** Without a name on both sides nothing tells that they are one. */
const cameFrom = (known: LedgerVersion | undefined, now: MadeVersion): boolean =>
  known !== undefined && known.lineage !== '' && now.lineage !== '' && sinceVersion(known, now) !== 'another ledger'

/** What it would go on with stands in another ledger. Nothing was sent. */
export class OtherLedgerRunError extends AppError {
  constructor(run: string, stacks: readonly string[]) {
    super(
      `run ${run} was begun with another ledger of ${stacks.length === 1 ? 'stack' : 'the stacks'} ${stacks.join(', ')} than this one`,
      {
        code: 'E_RUN_LEDGER',
        exit: EXIT.refused,
        suggestions: [
          'Give it the ledger that it began with: the same --state, or TF_HTTP_ADDRESS, as for that run.',
          'To apply with this one, plan anew: svcctl apply, without --resume.',
        ],
      },
    )
  }
}

/** Who goes on with a run does so with its own ledgers. @throws OtherLedgerRunError */
export function assertOwnLedgers(
  run: RunWithLedgers & {readonly header: {readonly run: string}},
  here: ReadonlyMap<string, LedgerHere>,
): void {
  const own = ownStacks(run, here)
  const others = run.header.stacks.filter(it => !own.has(it))
  if (others.length > 0) throw new OtherLedgerRunError(run.header.run, others)
}

/** A plan was made with another ledger: what it makes would be written down where nobody looks for it. Nothing was sent. */
export class OtherLedgerPlanError extends AppError {
  constructor(stacks: readonly string[]) {
    super(`the plan was made with another ledger of ${stacks.length === 1 ? 'stack' : 'the stacks'} ${stacks.join(', ')} than this one`, {
      code: 'E_PLAN_LEDGER',
      exit: EXIT.refused,
      suggestions: ['Give it the ledger that it was made with (the same --state, or TF_HTTP_ADDRESS), or plan again with this one.'],
    })
  }
}

/**
 * A plan is carried out with the ledgers it was made with, wherever they are by now. One that is lost is not another one: what the
 * plan touches of its objects is stale.
 * @throws OtherLedgerPlanError
 */
export function assertPlannedLedgers({stacks}: Pick<Plan, 'stacks'>, here: ReadonlyMap<string, LedgerHere>): void {
  const others = stacks.filter(it => {
    const ledger = here.get(it.name)
    if (ledger === undefined) return false
    const {lineage, madeFrom = []} = ledger.version
    if (it.lineage !== undefined && lineage !== '') return ![lineage, ...madeFrom.map(from => from.lineage)].includes(it.lineage)
    // What was brought there since may be the one that was made there.
    return it.place !== undefined && it.place !== ledger.place && madeFrom.length === 0
  })
  if (others.length > 0) throw new OtherLedgerPlanError(others.map(it => it.name))
}

/** The holds and freezes that a run goes by: those beside the ledgers of its stacks, and those of the accounts it speaks to. */
import type {Api} from '../../base/apis.ts'
import {AppError} from '../../base/errors.ts'
import {shellWord} from '../../base/shell-word.ts'
import {FrozenError} from '../../controls/errors.ts'
import {type AccountPlace, besideLedger, ofAccount} from '../../controls/place.ts'
import {asFile, ControlsStore, OWNER} from '../../controls/store.ts'
import type {FreezeInForce, Hold} from '../../engine/model/controls.ts'
import type {LedgerLocation} from '../../engine/model/declaration.ts'
import {accountKey} from '../../transport/shared-budget.ts'
import type {Host} from '../host/host.ts'
import type {LedgerOf} from '../ledgers/other-ledgers.ts'
import {type StateStoreOptions, StateStores} from '../ledgers/state-store.ts'

/** An account as far as its controls are concerned. */
export interface ControlledAccount {
  readonly api?: Api
  readonly address: string
  readonly keyHash: string
  /** From the profile. */
  readonly controls?: string
  /** That names it. */
  readonly profile?: string
}

/** What counts now. */
export interface InForce {
  readonly freezes: readonly FreezeInForce[]
  /** By stack. */
  readonly holds: ReadonlyMap<string, readonly Hold[]>
}

/** A look while a run is under way: it is looked again soon. */
const QUICK_MS = 3_000
const PATIENT_MS = 10_000

/** The lock of an account's controls is no stack's: whoever changes them takes it away. */
const NEXT_ONE = 'run the command again, which waits for 20 s and takes it away'

interface Kept {
  /** Absent: an account's. */
  readonly stack?: string
  /** In words, of which account. */
  readonly account?: string
  /** Of the account. */
  readonly profile?: string
  readonly patient: ControlsStore
  readonly quick: ControlsStore
}

export class RunControls {
  readonly #states: StateStores
  readonly #kept: readonly Kept[]

  /** @throws HttpBackendError, NotAFileError */
  constructor(host: Host, stacks: readonly LedgerOf[], accounts: readonly ControlledAccount[]) {
    this.#states = new StateStores(host)
    const {all, stateDir} = host.environment
    const places: (AccountPlace & Pick<Kept, 'stack' | 'account' | 'profile'>)[] = [
      ...stacks.map(({name, ledger}) => ({stack: name, location: besideLedger(ledger, {environment: all, stack: name, folder: host.cwd})})),
      ...accounts.map(({api, address, keyHash, controls, profile}) => ({
        account: `${api === undefined ? '' : `${api} `}account at ${address}`,
        ...ofAccount(stateDir, accountKey(address, keyHash), controls),
        ...(profile === undefined ? {} : {profile}),
      })),
    ]
    const kept = places.map(({stack, account, profile, ...place}) => {
      const freeing = (id: string) => (stack === undefined ? NEXT_ONE : `svcctl force-unlock --stack ${shellWord(stack)} ${shellWord(id)}`)
      return {
        ...(stack === undefined ? {} : {stack}),
        ...(account === undefined ? {} : {account}),
        ...(profile === undefined ? {} : {profile}),
        patient: this.#open(host, place, {timeoutMs: PATIENT_MS, freeing}),
        quick: this.#open(host, place, {timeoutMs: QUICK_MS, retryMax: 0, freeing}),
      }
    })
    // Two accounts may have one place, and the cloud's is that of many stacks.
    const isOne = (a: Kept, b: Kept) => a.stack === b.stack && a.patient.key === b.patient.key
    this.#kept = kept
      .filter((it, i) => kept.findIndex(other => isOne(other, it)) === i)
      .map(it => {
        const accounts = new Set(kept.flatMap(other => (isOne(other, it) ? (other.account ?? []) : [])))
        return accounts.size === 0 ? it : {...it, account: [...accounts].join(' and ')}
      })
  }

  /** @throws ControlsError */
  async read(how: 'patient' | 'quick' = 'patient'): Promise<InForce> {
    const read = await Promise.all(this.#kept.map(async it => ({it, controls: await it[how].read()})))
    const freezes = new Map(
      read.flatMap(({it: {account, profile}, controls}) =>
        controls.freezes.map((it): [string, FreezeInForce] => [
          it.id,
          {...it, ...(account === undefined ? {} : {account}), ...(profile === undefined ? {} : {profile})},
        ]),
      ),
    )
    const holds = read.flatMap(({it, controls}) => (it.stack === undefined ? [] : [[it.stack, controls.holds] as const]))
    return {freezes: [...freezes.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)), holds: new Map(holds)}
  }

  /** Those of stacks, by name, and those of accounts. */
  get stores(): readonly (Pick<Kept, 'stack' | 'account'> & {readonly store: ControlsStore})[] {
    return this.#kept.map(({stack, account, patient}) => ({
      ...(stack === undefined ? {} : {stack}),
      ...(account === undefined ? {} : {account}),
      store: patient,
    }))
  }

  close(): Promise<void> {
    return this.#states.close()
  }

  #open(host: Host, {location, lockless}: AccountPlace, how: Pick<StateStoreOptions, 'timeoutMs' | 'retryMax' | 'freeing'>): ControlsStore {
    const {all} = host.environment
    const open = (ledger: LedgerLocation, environment: Host['environment']['all']) =>
      this.#states.open({name: OWNER, ledger}, {notice: () => {}, fileContent: asFile, environment, ...how})
    // The lock of a ledger is none of the controls'.
    const {TF_HTTP_LOCK_ADDRESS: _, TF_HTTP_UNLOCK_ADDRESS: _unlock, ...without} = all
    return new ControlsStore(open(location, all), () => host.wallClock.now(), lockless && open(lockless, without))
  }
}

/** @param breakGlass - only strict freezes count */
export function assertNotFrozen({freezes}: Pick<InForce, 'freezes'>, breakGlass = false): void {
  const standing = freezes.filter(it => it.strict || !breakGlass)
  if (standing.length > 0) throw new FrozenError(standing)
}

/**
 * Whatever changes something, be it only a ledger, asks this first.
 * @throws FrozenError, ControlsError
 */
export async function assertOpen(controls: RunControls, breakGlass = false): Promise<void> {
  assertNotFrozen(await controls.read(), breakGlass)
}

/** Which of these stacks are frozen; of what cannot be read nobody can tell that it is not. */
export const frozenAmong =
  (host: Host) =>
  async (stacks: readonly LedgerOf[]): Promise<ReadonlySet<string>> => {
    const frozen = new Set<string>()
    for (const stack of stacks) {
      const controls = new RunControls(host, [stack], [])
      try {
        await assertOpen(controls)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        frozen.add(stack.name)
      } finally {
        await controls.close()
      }
    }
    return frozen
  }

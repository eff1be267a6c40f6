/**
 * Holds and freezes where they are kept. The stores of ledgers do the work: their atomic files, their lock, their retries,
 * their fence. The document is an output of a "ledger" that owns nothing; in a file it stands by itself (`asFile`).
 */
import {AppError} from '../base/errors.ts'
import {canonicalJson} from '../base/json.ts'
import {type Controls, NO_CONTROLS} from '../engine/model/controls.ts'
import {emptyLedger, type Ledger, type Unlock} from '../engine/model/ledger.ts'
import {LedgerAccessError, LedgerChangedError, LedgerLockedError, LedgerLockLostError} from '../ledger/errors.ts'
import type {FileContent} from '../ledger/local-store.ts'
import type {ChangeStop, LockSeen, ManagedLedgerStore} from '../ledger/managed-store.ts'
import {
  CONTROLS_FORMAT,
  controlsDocument,
  controlsIn,
  inForce,
  LARGEST_BYTES,
  MOST_ENTRIES,
  NoControlsError,
  parseControls,
  withLatelyOver,
} from './document.ts'
import {ControlsError, ControlsLockedError} from './errors.ts'

/** What the state says whose it is: no stack can be called so. */
export const OWNER = '(controls)'
const OUTPUT = 'controls'

/** A change takes milliseconds: whoever still has the lock after this long, twice over, is gone. */
const PATIENCE_MS = 10_000
const ROUNDS = 8

export class ControlsStore {
  readonly place: string
  readonly key: string
  readonly #store: ManagedLedgerStore
  /** The same place without a lock, for a server that has none. */
  readonly #lockless: ManagedLedgerStore | undefined
  readonly #nowMs: () => number

  /** @param nowMs - what the clock of the machine says */
  constructor(store: ManagedLedgerStore, nowMs: () => number, lockless?: ManagedLedgerStore) {
    this.place = store.place
    this.key = store.key
    this.#store = store
    this.#lockless = lockless
    this.#nowMs = nowMs
  }

  /** As of a ledger. */
  lockSeen(): Promise<LockSeen | undefined> {
    return this.#store.lockSeen()
  }

  /** As of a ledger. */
  forceUnlock(lockId?: string): Promise<string | undefined> {
    return this.#store.forceUnlock(lockId)
  }

  /** What counts now. @throws ControlsError */
  async read(): Promise<Controls> {
    try {
      return inForce(controlsOf(await this.#store.load()), this.#nowMs())
    } catch (error) {
      throw this.#failed('read', error)
    }
  }

  /**
   * Two at once both count: the second one edits what the first one wrote.
   * @param edit - may be asked again, for what somebody else wrote meanwhile
   * @throws ControlsError, ControlsLockedError, what `edit` throws, and the reason of the signal with nothing changed
   */
  async change<T>(edit: (now: Controls) => {readonly controls: Controls; readonly result: T}, stop?: ChangeStop): Promise<T> {
    for (let round = 1; round <= ROUNDS; round++) {
      const done = await this.#tryToChange(edit, round === ROUNDS, stop)
      if (done !== undefined) return done.result
    }
    // What is read back each time is something else: others write without end, or the server does not keep what it is given.
    throw new ControlsLockedError(this.place, 'others, or are not kept as they were written')
  }

  async #tryToChange<T>(
    edit: (now: Controls) => {readonly controls: Controls; readonly result: T},
    isLast: boolean,
    stop: ChangeStop | undefined,
  ): Promise<{readonly result: T} | undefined> {
    const {store, unlock} = await this.#locked(stop?.signal)
    try {
      stop?.signal.throwIfAborted()
      stop?.begun()
      const before = await this.#reading(() => store.load())
      const [all, nowMs] = [controlsOf(before), this.#nowMs()]
      const {controls: edited, result} = edit(inForce(all, nowMs))
      const controls = withLatelyOver(edited, all, nowMs)
      if (controls.freezes.length > MOST_ENTRIES || controls.holds.length > MOST_ENTRIES)
        throw new ControlsError('changed', this.place, `it would have more than ${MOST_ENTRIES} entries`)
      const document = controlsDocument({...controls, serial: before.serial + 1})
      const saved = await store.save({...before, outputs: {[OUTPUT]: {value: document, sensitive: false}}})
      // Without a lock somebody else may have written over it in that very moment.
      const there = store === this.#lockless || store.lockKey === undefined ? await this.#readBack(store) : saved
      return there?.serial === saved.serial && canonicalJson(there.outputs) === canonicalJson(saved.outputs) ? {result} : undefined
    } catch (error) {
      const isStale = error instanceof LedgerChangedError || error instanceof LedgerLockLostError
      if (isStale && !isLast) return undefined
      throw this.#failed('changed', error)
    } finally {
      // What was written is written, and what failed is what is said.
      await unlock().catch(() => {})
    }
  }

  async #locked(signal: AbortSignal | undefined): Promise<{readonly store: ManagedLedgerStore; readonly unlock: Unlock}> {
    const store = this.#store
    let seen: LockSeen | undefined
    for (let round = 1; ; round++) {
      try {
        return {store, unlock: await store.lock(PATIENCE_MS, signal)}
      } catch (error) {
        signal?.throwIfAborted()
        if (!(error instanceof LedgerLockedError)) return this.#withoutLock(error, signal)
        const now = await store.lockSeen().catch(() => undefined)
        if (now?.isAlive || round === ROUNDS) throw new ControlsLockedError(this.place, now?.holder ?? 'somebody')
        // Nobody changes controls for that long. Whoever does all the same finds its lock gone, and writes nothing.
        if (now?.id !== undefined && now.id === seen?.id) await store.forceUnlock(now.id).catch(() => undefined)
        seen = now
      }
    }
  }

  /** Servers that know no locks say so in many ways. @throws ControlsError where there is no other way in */
  async #withoutLock(
    error: unknown,
    signal: AbortSignal | undefined,
  ): Promise<{readonly store: ManagedLedgerStore; readonly unlock: Unlock}> {
    const store = this.#lockless
    if (store === undefined || !(error instanceof LedgerAccessError)) throw this.#failed('changed', error)
    return {store, unlock: await store.lock(PATIENCE_MS, signal)}
  }

  /** @returns nothing where somebody else has written since */
  async #readBack(store: ManagedLedgerStore): Promise<Ledger | undefined> {
    return this.#reading(() =>
      store.load().catch((error: unknown) => {
        if (error instanceof LedgerChangedError) return undefined
        throw error
      }),
    )
  }

  async #reading<T>(load: () => Promise<T>): Promise<T> {
    try {
      return await load()
    } catch (error) {
      throw this.#failed('read', error)
    }
  }

  /** @returns what a person is told; a mistake of ours stays what it is */
  #failed(doing: 'read' | 'changed', error: unknown): unknown {
    if (error instanceof ControlsError) return error
    return error instanceof AppError || error instanceof NoControlsError
      ? new ControlsError(doing, this.place, error.message, error)
      : error
  }
}

/** @throws NoControlsError */
function controlsOf(ledger: Ledger): Controls {
  const output = ledger.outputs[OUTPUT]
  if (output !== undefined) return {...controlsIn(output.value), serial: ledger.serial}
  if (ledger.condition === 'absent') return NO_CONTROLS
  throw new NoControlsError('it is a state without controls')
}

/** The document by itself, for a store of files. */
export const asFile: FileContent = {
  largestBytes: LARGEST_BYTES,
  keepsBackup: false,
  encode: ({serial, outputs}) => `${JSON.stringify({...(outputs[OUTPUT]?.value as object), serial}, null, 2)}\n`,
  decode: content => {
    const {serial, ...controls} = parseControls(content)
    const value = controlsDocument({...controls, serial})
    // A file keeps no lineage: its format stands for it.
    return {...emptyLedger(OWNER), condition: 'present', serial, lineage: CONTROLS_FORMAT, outputs: {[OUTPUT]: {value, sensitive: false}}}
  },
}

/**
 * A ledger in a file. It is replaced as a whole or not at all, readable by its owner only, and the version a run found
 * stays beside it as `.backup`. The lock is a file of our own: Terraform never touches it, and it outlives nobody (see
 * `base/process-lock.ts`).
 */
import {createHash} from 'node:crypto'
import {chmodSync, copyFileSync, existsSync, linkSync, lstatSync, renameSync, rmSync} from 'node:fs'
import {stat} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {writeFileAtomic} from '../base/atomic-file.ts'
import {beginningOfName} from '../base/beginning.ts'
import {type Clock, cutBy} from '../base/clock.ts'
import {fileAt} from '../base/file-place.ts'
import {makeFolder} from '../base/make-folder.ts'
import {
  type HolderState,
  type LockHolder,
  type ProcessIdentity,
  type ProcessLock,
  readLockHolder,
  removeOwn,
  tryProcessLock,
} from '../base/process-lock.ts'
import {type RandomBytes, randomHex} from '../base/random.ts'
import {shellWord} from '../base/shell-word.ts'
import {isAbsent} from '../base/system-code.ts'
import {waitFor} from '../base/wait-for.ts'
import {readKeptFile} from '../base/whole-file.ts'
import {emptyLedger, type Ledger, type LedgerVersion, type Unlock} from '../engine/model/ledger.ts'
import type {OwnApp} from './errors.ts'
import {LedgerAccessError, LedgerLockedError, LedgerLockLostError, type LedgerPlace} from './errors.ts'
import {LockIdError, type LockSeen, lockPauseMs, type ManagedLedgerStore, type Notice, sayWaiting} from './managed-store.ts'
import {changedError, nextVersion} from './next-version.ts'
import {decodeLedger, encodeLedger} from './tfstate.ts'

/** What stands in the file; a ledger as Terraform state unless told. */
export interface FileContent {
  /** What is larger is not read. */
  readonly largestBytes?: number
  /** Whether the version that a run found stays beside the file. */
  readonly keepsBackup: boolean
  readonly encode: (ledger: Ledger) => string
  readonly decode: (content: string, where: LedgerPlace) => Ledger
}

const STATE: FileContent = {keepsBackup: true, encode: encodeLedger, decode: decodeLedger}

export interface LocalStoreOptions {
  /** Absolute. */
  readonly path: string
  readonly stack: string
  /** This process, and how it sees another one: `processIdentityOf`, `holderState` of `base/process-lock.ts`. */
  readonly process: ProcessIdentity
  readonly stateOf: (holder: LockHolder) => HolderState
  /** Name of the person or job, for whoever waits. */
  readonly who: string
  readonly clock: Clock
  readonly random: RandomBytes
  readonly notice: Notice
  /** Hears what is waited for; `notice` unless told. */
  readonly onWait?: Notice
  readonly content?: FileContent
  readonly app?: OwnApp
}

/** Three times what the hundred thousand objects take that an app may have. */
const LARGEST_LEDGER = 256 * 1_048_576

interface Version extends LedgerVersion {
  /** Of the file as it was read or written last; `absent` when there was none. */
  readonly file: string
  /** Of what it held: whoever writes without our lock counts on from the same serial. */
  readonly digest: string
}

export class LocalLedgerStore implements ManagedLedgerStore {
  readonly place: string
  readonly key: string
  readonly isRemote = false
  readonly #options: LocalStoreOptions
  /** Where the file really lies: lock, backup and every new version are beside it, and a link to it stays a link. */
  readonly #path: string
  readonly #where: LedgerPlace
  readonly #content: FileContent
  #known: Version | undefined
  #lockId: string | undefined
  /** Whether this run has written it under its lock. */
  #hasWritten = false
  #backedUp = false

  /** @throws NotAFileError when what stands at the path is no file */
  constructor(options: LocalStoreOptions) {
    const {stack} = options
    const path = fileAt(options.path, {kept: true})
    this.#options = options
    this.#path = path
    this.#content = options.content ?? STATE
    this.place = options.path
    this.key = `local:${path}`
    const name = shellWord(path)
    this.#where = {
      place: path,
      stack,
      setAside: `mv ${name} ${shellWord(`${path}.damaged`)}`,
      ...(options.app && {app: options.app}),
      ...(existsSync(backupOf(path)) && {
        others: [`Or take back the version before the last run: cp ${shellWord(backupOf(path))} ${name}`],
      }),
    }
  }

  async load(): Promise<Ledger> {
    const {ledger, version} = await this.#found()
    // What this run wrote under its lock is not made good by what somebody else has put in its place.
    if (this.#hasWritten && !isSame(version, this.#known)) throw changedError(this.#where, this.#known ?? version, version)
    this.#known = version
    return ledger
  }

  async #found(): Promise<{readonly ledger: Ledger; readonly version: Version}> {
    const read = await this.#read()
    const ledger = read === undefined ? emptyLedger(this.#options.stack) : this.#content.decode(read.content, this.#where)
    const {serial, lineage} = ledger
    return {ledger, version: {serial, lineage, file: read?.file ?? 'absent', digest: digestOf(read?.content)}}
  }

  /** Hand the answer to the next `save`: it has the serial of what is in the file now. */
  async save(ledger: Ledger): Promise<Ledger> {
    const {random} = this.#options
    const path = this.#path
    this.#expectLock()
    if (this.#known?.file !== (await signatureOf(path))) {
      const {version} = await this.#found()
      const isRewritten = this.#known !== undefined && version.serial === this.#known.serial && !isSame(version, this.#known)
      if (isRewritten) throw changedError(this.#where, ledger, version)
      this.#known = version
    }
    const saved = nextVersion(ledger, this.#known, this.#where, random)
    const content = this.#content.encode(saved)
    try {
      makeFolder(dirname(path))
      if (this.#content.keepsBackup && !this.#backedUp) keepBackup(path)
      this.#backedUp = true
      // What is written may be large, and the disk slow.
      await writeFileAtomic(path, content, {mode: 0o600, assertStill: () => this.#expectLock()})
    } catch (error) {
      if (error instanceof LedgerLockLostError) throw error
      throw this.#accessError('write', error)
    }
    this.#known = {serial: saved.serial, lineage: saved.lineage, file: await signatureOf(path), digest: digestOf(content)}
    this.#hasWritten = true
    return saved
  }

  async lock(timeoutMs: number, signal?: AbortSignal): Promise<Unlock> {
    const {stack, process, who, clock, random, stateOf, notice, onWait = notice} = this.#options
    const path = this.#path
    const file = lockFileOf(path)
    const mine: LockHolder = {...process, id: randomHex(random, 8), who, since: new Date(clock.now()).toISOString()}
    const started = clock.now()
    let holder: LockHolder | undefined
    let looks = 0
    const wordsOf = (by: LockHolder | undefined) => (by ? describe(by) : `somebody: ${file} cannot be read`)
    const look = async (): Promise<ProcessLock | undefined> => {
      const attempt = tryProcessLock(file, mine, stateOf)
      if (attempt.held) return attempt.lock
      if (looks++ === 0) sayWaiting(onWait, path, wordsOf(attempt.holder), timeoutMs)
      holder = attempt.holder
      return undefined
    }
    let lock: ProcessLock | undefined
    try {
      makeFolder(dirname(path))
      // The signal cuts the pauses only: a look may have taken it.
      lock = await waitFor(look, {clock: cutBy(signal, clock), everyMs: lockPauseMs, timeoutMs})
    } catch (error) {
      if (signal?.aborted) throw error
      throw this.#accessError('lock', error)
    }
    if (lock === undefined) {
      throw new LedgerLockedError(this.#where, wordsOf(holder), holder?.id, clock.now() - started)
    }
    if (lock.takenFrom) {
      notice(
        `The lock on ${path} was held by ${describe(lock.takenFrom)}. That process has ended: the stack "${stack}" is locked by this one now.`,
      )
    }
    this.#lockId = mine.id
    this.#backedUp = false
    this.#hasWritten = false
    return async () => {
      if (this.#lockId === mine.id) this.#lockId = undefined
      this.#hasWritten = false
      lock.release()
    }
  }

  async assertHeld(): Promise<void> {
    this.#expectLock()
  }

  async lockSeen(): Promise<LockSeen | undefined> {
    const file = lockFileOf(this.#path)
    const found = readLockHolder(file)
    if (found === 'absent') return undefined
    if (found === 'unreadable') return {holder: `somebody: ${file} cannot be read`, isAlive: false, needsId: false}
    return {id: found.id, holder: describe(found), isAlive: this.#options.stateOf(found) === 'alive', needsId: false}
  }

  async forceUnlock(lockId?: string): Promise<string | undefined> {
    const file = lockFileOf(this.#path)
    const found = readLockHolder(file)
    if (found === 'absent') return undefined
    if (found === 'unreadable') {
      if (lstatSync(file).isDirectory())
        throw this.#accessError('unlock', `${file} is a folder`, `Move it away: mv ${shellWord(file)} ${shellWord(`${file}.old`)}`)
      rmSync(file, {force: true})
      return 'somebody (the lock file could not be read)'
    }
    if (lockId !== undefined && lockId !== found.id) {
      throw new LockIdError(this.#options.stack, this.place, {id: found.id, holder: describe(found)}, lockId)
    }
    removeOwn(file, found.id)
    return describe(found)
  }

  #expectLock(): void {
    if (this.#lockId === undefined) throw new Error(`the ledger ${this.place} is used without its lock`)
    const found = readLockHolder(lockFileOf(this.#path))
    if (typeof found !== 'string' && found.id === this.#lockId) return
    throw new LedgerLockLostError(this.#where, typeof found === 'string' ? 'it was removed' : `it is held by ${describe(found)}`)
  }

  /** What the file holds, and which version of the file that is: it is replaced, never rewritten, so both belong together. */
  async #read(): Promise<{content: string; file: string} | undefined> {
    try {
      const {bytes, stats} = await readKeptFile(this.#path, this.#content.largestBytes ?? LARGEST_LEDGER)
      return {content: bytes.toString(), file: signature(stats)}
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw this.#accessError('read', error)
    }
  }

  #accessError(doing: 'read' | 'write' | 'lock' | 'unlock', error: unknown, next?: string): LedgerAccessError {
    const reason = error instanceof Error ? error.message : String(error)
    const suggestion = next ?? `Make sure that ${dirname(this.#path)} can be written by you and has free space, then run the command again.`
    return new LedgerAccessError(doing, this.#where, reason, [suggestion], error)
  }
}

export const lockFileOf = (path: string): string => join(dirname(path), `.${basename(path)}.svcctl.lock`)
export const backupOf = (path: string): string => `${path}.backup`

function describe({pid, host, who, since}: LockHolder): string {
  const [place, name, time] = [host, who, since].map(beginningOfName)
  return `pid ${pid} on ${place}${name ? ` (${name})` : ''} since ${time || 'an unknown time'}`
}

/** The old version gets a second name before the new one takes the first: no moment without either. */
function keepBackup(path: string): void {
  if (!existsSync(path)) return
  const aside = `${backupOf(path)}.new`
  rmSync(aside, {force: true})
  try {
    linkSync(path, aside)
  } catch {
    copyFileSync(path, aside)
  }
  // Somebody may have made the ledger readable for others; what stays behind of it is not.
  chmodSync(aside, 0o600)
  renameSync(aside, backupOf(path))
}

const digestOf = (content: string | undefined): string => (content === undefined ? '' : createHash('sha256').update(content).digest('hex'))

const isSame = (found: Version, known: Version | undefined): boolean => found.digest === known?.digest

const signature = ({ino, size, mtimeMs}: {ino: number; size: number; mtimeMs: number}): string => `${ino}/${size}/${mtimeMs}`

async function signatureOf(path: string): Promise<string> {
  try {
    return signature(await stat(path))
  } catch (error) {
    if (isAbsent(error)) return 'absent'
    throw error
  }
}

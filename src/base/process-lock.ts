/**
 * A lock file that one process at a time may hold, and that the next one takes over when its holder died.
 *
 * The file appears complete or not at all (written aside, then linked to its name), and says who holds it: host, pid,
 * and when that process started, because pids are used again. Taking over is itself done under a lock of this kind,
 * named after the dead lock's id: of all who see the same dead holder exactly one removes its file, and nobody can
 * remove the file of a holder who came in between.
 */

import {createHash} from 'node:crypto'
import {linkSync, lstatSync, readFileSync, readlinkSync, rmSync, writeFileSync} from 'node:fs'
import {parseAnyJson} from './bounded-json.ts'
import {isJsonObject} from './json.ts'
import {isAbsent, systemCode} from './system-code.ts'
import {isNotKept, readKeptFileSync} from './whole-file.ts'

/** A process, as far as another process can recognise it. */
export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** Boot and start time of the process; empty where the system does not tell. */
  readonly start: string
  /** Pids mean something only inside one of these; empty where there is only one. */
  readonly pidSpace: string
}

export interface LockHolder extends ProcessIdentity {
  /** Chance; no two locks share one. */
  readonly id: string
  readonly who: string
  /** ISO 8601, UTC. */
  readonly since: string
}

export interface ProcessLock {
  readonly holder: LockHolder
  /** The dead holder this lock was taken from. */
  readonly takenFrom?: LockHolder
  release(): void
}

export type LockAttempt =
  | {readonly held: true; readonly lock: ProcessLock}
  /** `holder` is `undefined` when the file is there but says nothing that can be read. */
  | {readonly held: false; readonly holder: LockHolder | undefined}

/** `elsewhere`: on another host, or in another container, where its pid tells nothing. */
export type HolderState = 'alive' | 'dead' | 'elsewhere'

/**
 * Takes the lock if it is free or its holder is dead; never waits.
 *
 * @param stateOf - whether a holder still runs; `holderState` for the real system
 * @throws the system's error when the folder cannot be written
 */
export function tryProcessLock(path: string, mine: LockHolder, stateOf: (holder: LockHolder) => HolderState): LockAttempt {
  let takenFrom: LockHolder | undefined
  for (;;) {
    if (createComplete(path, mine))
      return {held: true, lock: {holder: mine, ...(takenFrom && {takenFrom}), release: () => removeOwn(path, mine.id)}}
    const found = readLockHolder(path)
    if (found === 'absent') continue
    if (found === 'unreadable' || stateOf(found) !== 'dead') return {held: false, holder: found === 'unreadable' ? undefined : found}
    const claim = tryProcessLock(`${path}.${found.id}`, mine, stateOf)
    if (!claim.held) return {held: false, holder: found}
    try {
      if (removeOwn(path, found.id)) takenFrom = found
    } finally {
      claim.lock.release()
    }
  }
}

/** No lock of ours has a hundredth of it. */
const LARGEST_LOCK = 65_536

/** Who holds the lock at this path. */
export function readLockHolder(path: string): LockHolder | 'absent' | 'unreadable' {
  // What takes the name and is no file of ours (a link to nothing, a FIFO that never answers) is not read, and not waited for.
  const found = lstatSync(path, {throwIfNoEntry: false})
  if (found === undefined) return 'absent'
  if (!found.isFile()) return 'unreadable'
  let text: string
  try {
    text = readKeptFileSync(path, LARGEST_LOCK).toString()
  } catch (error) {
    if (isAbsent(error)) return 'absent'
    if (isNotKept(error)) return 'unreadable'
    throw error
  }
  return holderIn(text) ?? 'unreadable'
}

/** Removes the lock if it is still the one with this id. */
export function removeOwn(path: string, id: string): boolean {
  const found = readLockHolder(path)
  if (typeof found === 'string' || found.id !== id) return false
  rmSync(path, {force: true})
  return true
}

/** This process, by what Linux says below /proc; elsewhere by host and pid alone. */
export const processIdentityOf = (host: string, pid: number): ProcessIdentity => ({
  host,
  pid,
  start: startOf(pid) ?? '',
  pidSpace: ownPidSpace(),
})

/** Whether the holder of a lock still runs, seen from a process on `host`. */
export function holderState(holder: LockHolder, host: string): HolderState {
  if (holder.host !== host || holder.pidSpace !== ownPidSpace()) return 'elsewhere'
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return 'dead'
    // EPERM: somebody else's process, and so a running one.
  }
  const start = startOf(holder.pid)
  if (start === undefined) return 'alive'
  return start === 'ended' || (holder.start !== '' && start !== holder.start) ? 'dead' : 'alive'
}

function createComplete(path: string, holder: LockHolder): boolean {
  const text = `${JSON.stringify(holder, null, 2)}\n`
  const aside = `${path}.${holder.id}.new`
  try {
    writeFileSync(aside, text, {mode: 0o600})
    linkSync(aside, path)
    return true
  } catch (error) {
    const code = systemCode(error)
    // Over a network an answer may get lost, and the question is then asked again: ours is there, whatever it says.
    const found = code === undefined ? 'absent' : readLockHolder(path)
    if (typeof found !== 'string' && found.id === holder.id) return true
    if (code === 'EEXIST') return false
    if (code === undefined || !['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error
    return createInPlace(path, text)
  } finally {
    rmSync(aside, {force: true})
  }
}

/** For file systems without links: whoever reads while this writes sees an unreadable holder, and waits. */
function createInPlace(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, {mode: 0o600, flag: 'wx'})
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    // A full disk has the name and not the text: nobody could tell whose lock it is.
    rmSync(path, {force: true})
    throw error
  }
}

function holderIn(text: string): LockHolder | undefined {
  try {
    return parseHolder(parseAnyJson(text))
  } catch {
    return undefined
  }
}

export function parseHolder(it: unknown): LockHolder | undefined {
  if (!isJsonObject(it)) return undefined
  const {id, who, host, pid, start, pidSpace, since} = it
  if (typeof id !== 'string' || !/^[\w-]+$/.test(id) || typeof host !== 'string' || typeof pid !== 'number') return undefined
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  const text_ = (value: unknown): string => (typeof value === 'string' ? value : '')
  return {id, host, pid, who: text_(who), start: text_(start), pidSpace: text_(pidSpace), since: text_(since)}
}

/** What stays the same as long as this process runs is looked up once. */
function once<T>(look: () => T): () => T {
  let known: {readonly value: T} | undefined
  return () => {
    known ??= {value: look()}
    return known.value
  }
}

const bootId = once(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())

/** `<boot>/<clock ticks>`, `ended` for a process that only waits to be reaped, `undefined` where nothing can be told. */
function startOf(pid: number): string | 'ended' | undefined {
  try {
    const boot = bootId()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in brackets and may hold anything; the third is the state, the 22nd the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return 'ended'
    return fields[19] === undefined ? undefined : `${boot}/${fields[19]}`
  } catch {
    return undefined
  }
}

/** Two machines may have one name, and the first pid space of every kernel has one number: the machine is part of it, as a hash. */
const ownPidSpace = once((): string => {
  try {
    return [readlinkSync('/proc/self/ns/pid'), machine()].join(' ').trim()
  } catch {
    return ''
  }
})

function machine(): string {
  try {
    return createHash('sha256').update(readFileSync('/etc/machine-id', 'utf8').trim()).digest('hex').slice(0, 16)
  } catch {
    // Not everywhere there is one, as in many containers.
    return ''
  }
}

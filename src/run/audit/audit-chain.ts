/** The audit of one stack while a command adds to it: its file here, and what its ledger is to say of it. */
import {hostname} from 'node:os'
import {join, resolve} from 'node:path'
import {ChainFile, type Known, type Written} from '../../audit/chain-file.ts'
import type {AuditEvent, UnchainedEntry} from '../../audit/entry.ts'
import {AuditPlaceError, auditWriteError} from '../../audit/errors.ts'
import {filesAt, placeDigest} from '../../audit/place.ts'
import {NotAFileError} from '../../base/file-place.ts'
import {partOfPath} from '../../base/path-part.ts'
import {holderState, processIdentityOf} from '../../base/process-lock.ts'
import {randomHex} from '../../base/random.ts'
import {waitFor} from '../../base/wait-for.ts'
import {actorOf} from '../../config/actor.ts'
import {currentJob} from '../../config/ci-job.ts'
import {CARRIED_CHARACTERS, CARRIED_FILES, CARRIED_LINES, type Ledger, type LedgerAudit} from '../../engine/model/ledger.ts'
import type {Host} from '../host/host.ts'
import {asWritten, type Doer, doerAsWritten} from './audit-words.ts'

/** Somebody else's line takes a thousandth of that. */
const LOCK_WAIT_MS = 10_000

/** Where audits are: `SVC_AUDIT_DIR`, or beside the runs. @throws AuditPlaceError */
export function auditFolder({environment, cwd}: Pick<Host, 'environment' | 'cwd'>): string {
  const {auditDir} = environment
  if (auditDir === undefined) return join(cwd, '.svcctl', 'audit')
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(auditDir)) throw new AuditPlaceError(auditDir)
  return resolve(cwd, auditDir)
}

/** @throws AuditPlaceError, PathPartError */
export const auditPath = (host: Pick<Host, 'environment' | 'cwd'>, stack: string): string =>
  join(auditFolder(host), `${partOfPath(stack, 'a stack')}.jsonl`)

/** @param by - `--by`. @throws UsageError */
export function doerOf({environment}: Pick<Host, 'environment'>, by?: string): Doer {
  const {url, commit, ref} = currentJob(environment.all) ?? {}
  const ci = {...(url && {url}), ...(commit && {commit}), ...(ref && {ref})}
  return {actor: actorOf(environment, by), ...(Object.keys(ci).length > 0 && {ci})}
}

export class StackChain {
  readonly stack: string
  readonly #host: Host
  readonly #doer: Doer
  readonly #lineage: string
  readonly #isRemote: boolean
  /** What the ledger knew, until a line says so. */
  #lost: 'silent' | 'rewritten' | undefined
  readonly #file: ChainFile
  /** Of a ledger that is a file: behind HTTP it outlives the disks of its machines. */
  readonly #place: string | undefined
  /** Lines that are not in the file yet, because somebody else writes there just now. */
  #queue: UnchainedEntry[] = []
  #audit: LedgerAudit | undefined
  #isSynced = true
  #run: string | undefined

  /**
   * @param isRemote - other machines write to the same ledger
   * @throws AuditPlaceError, AuditWriteError
   */
  constructor(
    host: Host,
    {stack, lineage, audit, condition, rewrittenBy}: Pick<Ledger, 'stack' | 'lineage' | 'audit' | 'condition' | 'rewrittenBy'>,
    {doer, isRemote}: {readonly doer: Doer; readonly isRemote: boolean},
  ) {
    this.stack = stack
    this.#host = host
    this.#doer = doer
    this.#lineage = lineage
    this.#isRemote = isRemote
    this.#audit = audit
    if (condition === 'present' && audit === undefined) this.#lost = rewrittenBy === undefined ? 'silent' : 'rewritten'
    const {random, clock} = host
    const path = auditPath(host, stack)
    this.#place = isRemote ? undefined : placeDigest(hostname(), path)
    const own = processIdentityOf(hostname(), process.pid)
    const chance = randomHex(random, 6)
    let locks = 0
    const since = new Date(clock.now()).toISOString()
    this.#file = new ChainFile(path, {
      holder: () => ({...own, id: `${chance}-${++locks}`, who: 'svcctl audit', since}),
      stateOf: holder => holderState(holder, own.host),
    })
  }

  /** From here on things were sent: what goes wrong is gone on from with this run. */
  hasBegun(run: string): void {
    this.#run = run
  }

  /** What the ledger is to say once all of it is on the disk; absent: there is no line yet. */
  get audit(): LedgerAudit | undefined {
    return this.#audit
  }

  /**
   * Finds lines that the ledger does not know: of a run that died.
   * @returns whether there are any
   * @throws AuditWriteError, AuditLockedError
   */
  async catchUp(): Promise<boolean> {
    const before = this.#audit?.hash
    const written = await this.#locked(() => this.#file.append([], this.#known()))
    if (written.head.seq === 0 || written.head.hash === before) return false
    this.#learn(written)
    this.#isSynced = false
    return true
  }

  /** The line is in the file when it returns, unless somebody else writes there just now. @throws AuditWriteError */
  note(event: AuditEvent): void {
    this.#queue.push(this.#entry(event))
    this.#told(() => this.#write())
  }

  /**
   * All lines are on the disk when it resolves.
   * @throws AuditWriteError, AuditLockedError
   */
  async flush(): Promise<LedgerAudit | undefined> {
    await this.#locked(() => this.#write())
    if (!this.#isSynced) this.#told(() => this.#file.sync())
    this.#isSynced = true
    return this.#audit
  }

  close(): void {
    this.#file.close()
  }

  #entry(event: AuditEvent): UnchainedEntry {
    const at = new Date(this.#host.wallClock.now()).toISOString()
    return {v: 1, at, stack: this.stack, lineage: this.#lineage, ...doerAsWritten(this.#host, this.#doer), ...asWritten(this.#host, event)}
  }

  /** @returns `undefined` while somebody else writes */
  #write(): true | undefined {
    if (this.#queue.length === 0) return true
    const written = this.#file.append(this.#queue, this.#known())
    if (written === undefined) return undefined
    this.#queue = []
    this.#lost = undefined
    this.#isSynced = false
    this.#learn(written)
    return true
  }

  #known(): Known {
    const audit = this.#audit
    if (this.#lost !== undefined) return this.#lost
    if (audit === undefined) return undefined
    return {seq: audit.seq, hash: audit.hash, files: filesAt(audit.files, this.#place === undefined ? [] : [this.#place])}
  }

  #learn({file, head, lines}: Written): void {
    const others = this.#audit?.files.filter(it => it.file !== file) ?? []
    const own = {file, ...head, ...(this.#place === undefined ? {} : {place: this.#place})}
    const files = [...(file === '' ? [] : [own]), ...others].slice(0, CARRIED_FILES)
    const last = this.#isRemote ? newest([...(this.#audit?.last ?? []), ...lines.map(it => it.text)]) : undefined
    this.#audit = {...head, files, ...(last && {last})}
  }

  #told<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (error instanceof NotAFileError) throw error
      throw auditWriteError(this.#file.path, error, this.#run)
    }
  }

  async #locked<T>(work: () => T | undefined): Promise<T> {
    const look = () => Promise.resolve(this.#told(work))
    const done = await waitFor(look, {clock: this.#host.clock, everyMs: 20, timeoutMs: LOCK_WAIT_MS})
    if (done === undefined) throw this.#file.locked()
    return done
  }
}

/** As many of the last ones as may be carried along. */
function newest(lines: readonly string[]): readonly string[] {
  let from = lines.length
  for (let size = 0; from > 0 && lines.length - from < CARRIED_LINES; from--) {
    size += lines[from - 1]?.length ?? 0
    if (size > CARRIED_CHARACTERS) break
  }
  return lines.slice(from)
}

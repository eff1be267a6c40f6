/** The audit of an apply: its beginning, every operation as it ends, and its end, in the audits of the stacks it changes. */
import {AppError} from '../../base/errors.ts'
import type {LedgerBook} from '../../engine/apply/ledger-book.ts'
import type {ApplyResult} from '../../engine/apply/work.ts'
import type {Emit} from '../../engine/model/events.ts'
import type {Operation, Plan} from '../../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../../engine/model/value.ts'
import {type AuditHead, BookAudit, failed} from '../audit/audit.ts'
import {type Approval, applyEnd, endedEvent, planOfAudit} from '../audit/audit-operations.ts'
import type {Workspace} from '../workspace/workspace.ts'

export interface AuditedRun {
  readonly workspace: Workspace
  /** What is carried out. */
  readonly plan: Plan
  /** What was approved, which has the hash that reviewers saw. */
  readonly approved: Plan
  readonly approval?: Approval | undefined
  readonly emit: Emit
  readonly warn: (text: string) => void
}

export class RunAudit {
  readonly #input: AuditedRun
  readonly #audit: BookAudit
  /** Of what does something. */
  readonly #operations: ReadonlyMap<Key, Operation>
  readonly #stacks: readonly string[]
  readonly #plan: ReturnType<typeof planOfAudit>
  #hasBegun = false

  constructor(input: AuditedRun, run: string, book: LedgerBook) {
    const {workspace, plan, approved, approval} = input
    this.#input = input
    this.#audit = new BookAudit(workspace.host, book, workspace.stores, run)
    const active = plan.operations.filter(it => it.action !== 'no-op')
    this.#operations = new Map(active.map(it => [keyOfOperation(it), it]))
    this.#stacks = [...new Set(active.map(it => it.stack))]
    this.#plan = planOfAudit(approved, approval)
  }

  /**
   * @param refused - told when it cannot be written: then nothing was sent, and nothing is left open
   * @throws AuditWriteError, AuditLockedError
   */
  async begin(refused: () => void): Promise<void> {
    try {
      await this.#audit.begin(this.#stacks, {event: 'apply-begin', plan: this.#plan})
      this.#hasBegun = true
    } catch (error) {
      refused()
      throw error
    }
  }

  /**
   * An operation is in the file when whoever listens hears of its end, and on the disk before the ledger says so: then one
   * flush does for all since the last one. What a power cut takes is in the journal, and the next run writes it again.
   */
  readonly emit: Emit = event => {
    if (event.type === 'ended') {
      const operation = this.#operations.get(event.key)
      const line = operation && endedEvent(operation, event)
      if (operation !== undefined && line !== undefined) this.#audit.note(operation.stack, {...line, plan: this.#plan})
    }
    this.#input.emit(event)
  }

  /** The work is done: that its end cannot be written down is said, and changes nothing of it. */
  async end(result: ApplyResult, interrupted: boolean): Promise<void> {
    await this.#last(stack => ({...applyEnd(result, stack, interrupted), plan: this.#plan}))
    const {failure} = this.#audit
    if (failure !== undefined) this.#input.warn(`what the ledgers say of the audit is behind: ${failure.message}`)
  }

  /** The run could not go on. */
  async broke(error: unknown): Promise<void> {
    if (this.#hasBegun) await this.#last(() => ({event: 'apply-end', ...failed(error), plan: this.#plan}))
  }

  get heads(): readonly AuditHead[] {
    return this.#audit.heads
  }

  close(): void {
    this.#audit.close()
  }

  async #last(event: (stack: string) => Parameters<BookAudit['note']>[1]): Promise<void> {
    try {
      for (const stack of this.#stacks) this.#audit.note(stack, event(stack))
      await this.#audit.flush()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#input.warn(`the end of the run is not in the audit: ${error.message}`)
    }
  }
}

import {AppError, EXIT, type Problem} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'
import {isAbsent, systemCode} from '../base/system-code.ts'

/** Full disk, folder gone, somebody else's file. What is not in the audit is not done. */
export class AuditWriteError extends AppError {
  /** @param run - of an apply that had begun; absent: nothing was sent or changed */
  constructor(path: string, why: string, cause?: unknown, run?: string) {
    const next = run === undefined ? 'then run the command again' : `then run "svcctl apply --resume ${run}"`
    super(`The audit ${path} could not be written (${why}); nothing ${run === undefined ? 'was' : 'more is'} sent.`, {
      code: 'E_AUDIT_WRITE',
      suggestions: [`Make sure that ${path} can be written and that its disk has free space, ${next}.`],
      cause,
    })
  }
}

export const auditWriteError = (path: string, error: unknown, run?: string): AuditWriteError => {
  const why = systemCode(error) ?? (error instanceof Error ? error.message : String(error))
  return new AuditWriteError(path, why, error, run)
}

/** Another process writes to it for longer than a line takes. */
export class AuditLockedError extends AppError {
  constructor(path: string, lock: string, holder: string) {
    super(`The audit ${path} is being written by ${holder}, and has been for too long.`, {
      code: 'E_AUDIT_LOCKED',
      exit: EXIT.locked,
      suggestions: [`Run the command again. If nobody writes there any more, remove the lock: rm ${shellWord(lock)}`],
    })
  }
}

/** Where it may be an address some day it is none now. */
export class AuditPlaceError extends AppError {
  constructor(place: string) {
    super(`SVC_AUDIT_DIR is ${place}, and an audit is kept in a folder`, {
      code: 'E_AUDIT_DIR',
      exit: EXIT.usage,
      suggestions: ['Set SVC_AUDIT_DIR to a folder: one on a shared disk keeps the lines of all machines.'],
    })
  }
}

/** A file of an audit cannot be read. */
export class AuditReadError extends AppError {
  constructor(path: string, cause: unknown) {
    const code = systemCode(cause)
    super(`The audit ${path} cannot be read (${code ?? (cause instanceof Error ? cause.message : String(cause))}).`, {
      code: 'E_AUDIT_READ',
      ...(isAbsent(cause) ? {exit: EXIT.notFound} : {}),
      suggestions: ['Name files as .svcctl/audit has them, one for each stack: svcctl audit verify .svcctl/audit/STACK.jsonl'],
      cause,
    })
  }
}

/** Lines are not as they were written, or not all of them are there. */
export class AuditBrokenError extends AppError {
  readonly seq: number

  constructor(faults: readonly {readonly what: string; readonly seq: number; readonly message: string}[]) {
    const problems: Problem[] = faults.map(({what, message}) => ({source: what, message}))
    super(`the audit is broken: ${faults.map(it => `${it.what}: ${it.message}`).join('; ')}`, {
      code: 'E_AUDIT_BROKEN',
      problems,
      suggestions: [
        'Keep the file as it is, and compare it with a copy: another machine, a backup, the artifacts of CI. Lines before that number are as they were written.',
      ],
    })
    this.seq = faults[0]?.seq ?? 0
  }
}

/** What a person meets when a ledger cannot be used as it is. */

import {formatDuration} from '../base/duration.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'
import {type LedgerEntry, LockLostError} from '../engine/model/ledger.ts'

/** What `cdktf.json` says of the app. */
export interface OwnApp {
  readonly projectId?: string
  /** Apps whose stacks have come into this one. */
  readonly formerProjects: readonly string[]
}

/** Where a ledger is, and what moves it out of the way. */
export interface LedgerPlace {
  /** A path or an address. */
  readonly place: string
  readonly stack: string
  /** A command (or words) that puts the ledger aside; the next plan then adopts by name. */
  readonly setAside: string
  /** Whose ledgers are asked for; absent outside of an app, and of what is no ledger. */
  readonly app?: OwnApp
  /** More ways out, most careful first. */
  readonly others?: readonly string[]
}

const rebuild = ({stack, setAside, others = []}: LedgerPlace): string[] => [
  `${setAside}, then run "svcctl plan --stack ${shellWord(stack)}": it finds every object again by its name. Nothing is deleted or created twice for it.`,
  ...others,
]

/** It is there, and it is not what svcctl wrote. It is never overwritten. */
export class LedgerDamagedError extends AppError {
  constructor(where: LedgerPlace, what: string, cause?: unknown) {
    super(`The ledger ${where.place} is damaged: ${what}.`, {code: 'E_LEDGER_DAMAGED', suggestions: rebuild(where), cause})
  }
}

/** A Terraform state that svcctl did not write, or that Terraform wrote things into which are no objects of ours. */
export class LedgerNotOursError extends AppError {
  constructor(where: LedgerPlace, writer: string, what: string) {
    super(`The ledger ${where.place} was written by ${writer}, and not all of it is ours: ${what}.`, {
      code: 'E_LEDGER_NOT_OURS',
      suggestions: [
        'Take back what was there before: Terraform keeps it beside the file (*.backup). Then use "svcctl state mv" and "svcctl state rm".',
        ...rebuild(where),
      ],
    })
  }
}

/** Written by a version that knows more than this one. */
export class LedgerNewerError extends AppError {
  constructor(where: LedgerPlace, format: string) {
    super(`The ledger ${where.place} was written by a newer version (${format}).`, {
      code: 'E_LEDGER_NEWER',
      suggestions: ['Use the version of svcctl that wrote it, or a later one.', ...rebuild(where)],
    })
  }
}

/** It has an object that this version knows nothing of: where it is, what it hangs on and what would become of it. */
export class LedgerKindError extends AppError {
  constructor({place, stack}: Pick<LedgerPlace, 'place' | 'stack'>, {address, kind}: Pick<LedgerEntry, 'address' | 'kind'>) {
    super(
      `The ledger ${place} of the stack "${stack}" has ${address}, of a kind that this version does not know (${kind}); nothing was sent.`,
      {
        code: 'E_LEDGER_KIND',
        suggestions: [
          'Use the version of svcctl that wrote it, or a later one.',
          `Where nobody did: svcctl state rm ${shellWord(address)} --stack ${shellWord(stack)} takes it out of the ledger and touches no object; "svcctl state list --stack ${shellWord(stack)}" shows what else is in it.`,
        ],
      },
    )
  }
}

/** All it had is in another one by now: what is recorded here the stack would never hear of. */
export class LedgerMovedError extends AppError {
  constructor({place, stack}: Pick<LedgerPlace, 'place' | 'stack'>, transfer: string) {
    const name = shellWord(stack)
    super(`What the ledger ${place} of the stack "${stack}" had is in another place since transfer ${transfer}; nothing was sent.`, {
      code: 'E_LEDGER_MOVED',
      exit: EXIT.stale,
      suggestions: [
        `A plan or a run from before that is over: svcctl plan --stack ${name} plans what is left with the ledger that the code names now.`,
        `Where the code names this place again: svcctl transfer --stack ${name} --from-state PLACE brings back what is in the other one.`,
        'Where the other one is lost: move this one out of the way, and the next plan finds every object again by its name.',
      ],
    })
  }
}

/** Two stacks behind one ledger would delete each other's objects in turn. */
export class LedgerForeignError extends AppError {
  constructor(where: LedgerPlace, owner: string) {
    super(`The ledger ${where.place} belongs to the stack "${owner}", not to "${where.stack}".`, {
      code: 'E_LEDGER_FOREIGN',
      exit: EXIT.refused,
      suggestions: [
        `Give the stack "${where.stack}" a backend (or --state FILE) of its own.`,
        `If "${owner}" was renamed: ${rebuild(where)[0] ?? ''}`,
      ],
    })
  }
}

/** Somebody else wrote it after it was read. */
export class LedgerChangedError extends AppError {
  constructor({place, stack}: LedgerPlace, expected: string, found: string) {
    super(`The ledger ${place} changed since it was read (expected ${expected}, found ${found}); it was not overwritten.`, {
      code: 'E_LEDGER_CHANGED',
      exit: EXIT.stale,
      suggestions: [`Run "svcctl plan --stack ${shellWord(stack)}" again.`],
    })
  }
}

/** The system or the server would not give or take it. */
export class LedgerAccessError extends AppError {
  constructor(
    doing: 'read' | 'write' | 'lock' | 'unlock',
    {place}: LedgerPlace,
    reason: string,
    suggestions: readonly [string, ...string[]],
    cause?: unknown,
  ) {
    super(`Could not ${doing} the ledger ${place}: ${reason.replace(/\.$/, '')}.`, {code: 'E_LEDGER_ACCESS', suggestions, cause})
  }
}

/** A lock that was not given back: it stays, whatever becomes of this process. */
export class LedgerStillLockedError extends LedgerAccessError {
  readonly lockIds: readonly string[]

  constructor(lockId: string, where: LedgerPlace, reason: string, suggestions: readonly [string, ...string[]], cause?: unknown) {
    super('unlock', where, reason, suggestions, cause)
    this.lockIds = [lockId]
  }
}

/** The state server wants other credentials. */
export class LedgerAuthError extends AppError {
  /** @param withheld - there are credentials, and they are not for this address; `variable` would name it */
  constructor({place}: LedgerPlace, status: number, withheld?: {readonly variable: string; readonly address: string}) {
    super(`The state server at ${place} ${status === 401 ? 'wants credentials' : 'refused the credentials'} (${status}).`, {
      code: 'E_LEDGER_AUTH',
      exit: EXIT.unauthorized,
      suggestions: withheld
        ? [
            withheld.variable === 'TF_HTTP_ADDRESS'
              ? 'TF_HTTP_USERNAME and TF_HTTP_PASSWORD are sent to the server of TF_HTTP_ADDRESS only, and the stack names another one.'
              : `TF_HTTP_USERNAME and TF_HTTP_PASSWORD are sent to locks below the address of the state, and to those of TF_HTTP_LOCK_ADDRESS and TF_HTTP_UNLOCK_ADDRESS: ${withheld.address} is neither.`,
            `Where this is your state server, say so: export ${withheld.variable}=${withheld.address}`,
          ]
        : ['Set TF_HTTP_USERNAME and TF_HTTP_PASSWORD to an account that may read and write this state.'],
    })
  }
}

/** Somebody holds the lock. */
export class LedgerLockedError extends AppError {
  constructor({place, stack}: LedgerPlace, holder: string, lockId: string | undefined, waitedMs: number, suggestion?: string) {
    super(`The ledger ${place} is locked by ${holder}${waitedMs >= 100 ? ` (waited ${formatDuration(waitedMs)})` : ''}.`, {
      code: 'E_LOCKED',
      exit: EXIT.locked,
      suggestions: [
        suggestion ?? 'Wait for it: add "--lock-timeout 10m".',
        `If that run is gone for good: svcctl force-unlock --stack ${shellWord(stack)}${lockId ? ` ${shellWord(lockId)}` : ''}`,
      ],
    })
  }
}

/** Our lock is not there any more: somebody forced it, and may be writing now. */
export class LedgerLockLostError extends LockLostError {
  /** @param givenBack - whether that was only seen when it was given back: what was to be written is written then */
  constructor({place, stack}: LedgerPlace, found: string, givenBack = false) {
    const lost = `The lock on the ledger ${place} is no longer ours (${found})`
    super(
      givenBack
        ? `${lost}, which was only seen when it was given back: the other run may have read the ledger before this one wrote it.`
        : `${lost}: nothing more was sent, and nothing was written to it.`,
      {
        code: 'E_LOCK_LOST',
        exit: EXIT.locked,
        suggestions: [
          givenBack
            ? `When the other run has ended, see that the ledger has what both wrote: svcctl state list --stack ${shellWord(stack)}`
            : 'When the other run has ended, run this again; if it was an apply: svcctl apply --resume',
        ],
      },
    )
  }
}

/** How an operation can fail, in words for the person who reads the summary. */

import {AppError, EXIT} from '../../base/errors.ts'
import {shellWord} from '../../base/shell-word.ts'
import type {TaskFailure} from '../model/backend.ts'
import type {Step} from '../model/events.ts'
import type {Operation} from '../model/plan.ts'
import {isUnseen, mayBeAccepted} from '../plan/may-be-accepted.ts'

/** The API accepted the request, and its task ended in failure. */
export class OperationFailedError extends AppError {
  constructor(what: string, taskId: string, {code, message, field}: TaskFailure) {
    super(
      `${what}: task ${taskId} failed: ${message}${code === undefined ? '' : ` (${code})`}${field === undefined ? '' : `, field ${field}`}`,
      {
        code: 'E_OPERATION_FAILED',
        exit: EXIT.partial,
        suggestions: [`See the whole task with: svcctl task show ${shellWord(taskId)}`],
      },
    )
  }
}

/** The object says that it failed, or does not become ready any more, for it is being deleted or gone. */
export class ObjectFailedError extends AppError {
  /** @param status - absent: it is gone */
  constructor(what: string, remoteId: string, status?: string) {
    super(`${what}: ${remoteId} ${status === undefined ? 'is gone' : `ended in status ${JSON.stringify(status)}`}`, {
      code: 'E_OBJECT_FAILED',
      exit: EXIT.partial,
      suggestions: [
        status === undefined
          ? 'Plan again: it shows what is left to do.'
          : 'Look at the object with svcctl api, repair or remove it, then plan again.',
      ],
    })
  }
}

export class OperationTimeoutError extends AppError {
  /** @param alike - what is shown where that was looked for by its name, and is called almost like it */
  constructor(what: string, waitedFor: string, timeoutMs: number, alike?: {readonly name: string | undefined; readonly remoteId: string}) {
    const shown = alike && `${JSON.stringify(alike.name ?? '')} (${alike.remoteId})`
    super(
      `${what}: still waiting for ${waitedFor} after ${Math.round(timeoutMs / 1000)} s${shown === undefined ? '' : `; its list shows ${shown}: the server may have changed the name`}`,
      {
        code: 'E_OPERATION_TIMEOUT',
        exit: EXIT.timeout,
        suggestions: [
          ...(alike?.name === undefined
            ? []
            : [`If ${alike.remoteId} is the new object, declare its name as the server spells it: ${JSON.stringify(alike.name)}`]),
          'It may still finish: run svcctl apply again, which goes on where this run stopped, or raise --timeout.',
        ],
      },
    )
  }
}

/** Sent, no answer, and looking could not tell what became of it. */
export class OutcomeUnknownError extends AppError {
  constructor(what: string, why: string, cause?: unknown, next = 'Run svcctl plan in a minute: it looks again and adopts what it finds.') {
    super(`${what}: nobody can tell yet whether it happened: ${why}`, {
      code: 'E_OUTCOME_UNKNOWN',
      exit: EXIT.partial,
      suggestions: [next],
      cause,
    })
  }
}

/** The run ended, and the API works on: nothing went wrong. */
export class DetachedError extends AppError {
  constructor(what: string, goesOn: string) {
    super(`${what}: ${goesOn} goes on without this run`, {
      code: 'E_DETACHED',
      exit: EXIT.interrupted,
      suggestions: ['Run svcctl apply --resume: it waits for what goes on, and does the rest.'],
    })
  }
}

/** One half of a replacement is done, and the other one was not begun: it is no operation that never started. */
export class HalfReplacedError extends AppError {
  /** @param why - in words that follow ": " */
  constructor(what: string, done: Step, why: string, cause: AppError | undefined) {
    const half =
      done === 'delete'
        ? 'the old object is deleted, and the new one is not made'
        : 'the new object is made, and the old one is not deleted'
    super(`${what}: ${half}: ${why}`, {
      code: 'E_HALF_REPLACED',
      exit: EXIT.partial,
      suggestions: ['Apply the residual plan of this run, or run svcctl apply --resume: both do the other half.'],
      ...(cause === undefined ? {} : {cause}),
    })
  }
}

/** It was made along with its parent, in a way that no update can change. */
export class MadeOtherwiseError extends AppError {
  constructor(what: string, {remoteId, paths, parent, field}: {remoteId: string; paths: readonly string[]; parent: string; field: string}) {
    const said = paths.join(', ')
    super(`${what}: ${remoteId} was made with its ${parent}, and differs in what cannot be changed: ${said}; nothing was sent`, {
      code: 'E_MADE_OTHERWISE',
      exit: EXIT.partial,
      suggestions: [
        `Say it in "${field}" of the ${parent} too before that is made, or leave the object out there.`,
        'Plan again: it shows the replacement of what is there now, and what allows it.',
      ],
    })
  }
}

/** The run was told to stop, or could not go on, before its turn came. */
export class NotStartedError extends AppError {
  constructor() {
    super('the run ended before its turn came: nothing was sent for it', {
      code: 'E_NOT_STARTED',
      exit: EXIT.interrupted,
      suggestions: ['Run svcctl apply --resume: it does what this run has left.'],
    })
  }
}

/** The API has no way to do it. */
export class BlockedError extends AppError {
  constructor(operation: Operation) {
    const {stack, address, reason} = operation
    const accept = `svcctl apply --stack ${shellWord(stack)} --accept ${shellWord(address)}`
    super(`nothing was sent: ${reason}`, {
      code: 'E_BLOCKED',
      exit: EXIT.partial,
      suggestions: [
        !mayBeAccepted(operation)
          ? 'Take the change back in the stack, or make way for it as the reason says, and plan again.'
          : isUnseen(operation)
            ? `Plan again later, or, once you have made sure that none is there, run this, which makes one: ${accept}`
            : `Take the change back in the stack, or, once the declared state was reached in another way, run: ${accept}`,
      ],
    })
  }
}

export class ParentMissingError extends AppError {
  constructor(what: string) {
    super(`${what}: the object it should live in is not there`, {
      code: 'E_PARENT_MISSING',
      exit: EXIT.partial,
      suggestions: ['Plan again: something was removed after this plan was made.'],
    })
  }
}

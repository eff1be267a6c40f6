/** Everything the cloud API may answer instead of what was asked for, and the next step (contract section 7). */
import {AppError, EXIT} from '../../base/errors.ts'
import type {ApiAnswer} from '../../transport/api-client.ts'
import {AnswerError, type Asked, type ErrorsOf, nameOf, words} from '../api-errors.ts'
import {saidIn} from '../error-body.ts'

const SEE_ALL = 'Run the command again with -vv to see the whole answer.'

/** 401 and 403: the credentials are not known, or may not do this. */
export class CloudUnauthorizedError extends AnswerError {
  /** @param source - where the credentials came from, in words: `SVC_CLOUD_API_KEY of the environment` */
  constructor(asked: Asked, answer: ApiAnswer, source: string | undefined) {
    const from = source === undefined ? '' : `; they come from ${source}`
    const known = answer.status === 403
    super(
      `${nameOf(asked)}: ${known ? 'these credentials may not do this' : 'the API does not accept the credentials'}${from}: ${words(saidIn(answer.text), answer.status)}`,
      answer,
      {
        code: known ? 'E_CLOUD_FORBIDDEN' : 'E_CLOUD_UNAUTHORIZED',
        exit: EXIT.unauthorized,
        suggestions: known
          ? ['Use an API key whose role may do this, or ask the owner of the account for the permission.']
          : ['Check the API key and its secret: `svcctl profile show` and the environment (SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY).'],
      },
    )
  }
}

export class CloudNotFoundError extends AnswerError {
  constructor(asked: Asked, answer: ApiAnswer) {
    super(`${nameOf(asked)}: there is no such thing: ${words(saidIn(answer.text), answer.status)}`, answer, {
      code: 'E_CLOUD_NOT_FOUND',
      exit: EXIT.notFound,
      suggestions: ['Check the path and the ids in it, and that the address of the API ends in its version (`…/v1`).'],
    })
  }
}

/** 429 to the last try. */
export class CloudRateLimitedError extends AnswerError {
  constructor(asked: Asked, answer: ApiAnswer) {
    super(`${nameOf(asked)}: the account's request limit is used up: ${words(saidIn(answer.text), answer.status)}`, answer, {
      code: 'E_CLOUD_RATE_LIMITED',
      exit: EXIT.exhausted,
      suggestions: ['Wait a minute and run the command again; a lower --rate leaves room for others who use the same account.'],
    })
  }
}

/** The API understood the request and refused it (400, 409, …). Sending it again cannot help. */
export class CloudRefusedError extends AnswerError {
  constructor(asked: Asked, answer: ApiAnswer) {
    const said = saidIn(answer.text)
    super(`${nameOf(asked)} was refused: ${words(said, answer.status)}`, answer, {
      code: 'E_CLOUD_REFUSED',
      suggestions: [
        said.field === undefined
          ? SEE_ALL
          : `Set "${said.field}" in the stack${said.constraint === undefined ? '' : ` (the API says: ${said.constraint})`}, then plan again.`,
      ],
    })
  }
}

export class CloudServerError extends AnswerError {
  constructor(asked: Asked, answer: ApiAnswer) {
    super(`${nameOf(asked)}: the API has a problem of its own: ${words(saidIn(answer.text), answer.status)}`, answer, {
      code: 'E_CLOUD_SERVER',
      suggestions: ['Run the command again a little later; if it stays, report it to the operator of the API.'],
    })
  }
}

/** A success whose body cannot be read, or is of another shape. */
export class CloudUnreadableError extends AnswerError {
  constructor(asked: Asked, answer: ApiAnswer, cause?: unknown) {
    super(`${nameOf(asked)}: the answer (${answer.status}) is not what the API promises: ${glimpse(answer.text)}`, answer, {
      code: 'E_CLOUD_UNREADABLE',
      suggestions: ['Check that the address is that of the API and that no proxy answers in its place.', SEE_ALL],
      cause,
    })
  }
}

/** A write was sent, and nothing tells what became of it. */
export class CloudUnknownOutcomeError extends AppError {
  constructor(asked: Asked, cause: AppError) {
    super(`${nameOf(asked)} was sent, and its outcome is not known: ${cause.message}`, {
      code: 'E_CLOUD_OUTCOME_UNKNOWN',
      exit: EXIT.partial,
      suggestions: ['Run `svcctl plan`: it looks at what is there now.'],
      cause,
    })
  }
}

export class CloudTaskFailedError extends AppError {
  constructor(asked: Asked, task: {id: string; message: string; code?: string}) {
    super(`${nameOf(asked)}: task ${task.id} failed: ${task.message}${task.code && task.code !== task.message ? ` (${task.code})` : ''}`, {
      code: 'E_CLOUD_TASK_FAILED',
      suggestions: [`Run \`svcctl task show ${task.id}\` to see the whole task.`],
    })
  }
}

export class CloudTaskTimeoutError extends AppError {
  constructor(asked: Asked, task: {id: string; seconds: number}) {
    super(`${nameOf(asked)}: task ${task.id} is not done after ${task.seconds} s`, {
      code: 'E_CLOUD_TASK_TIMEOUT',
      exit: EXIT.timeout,
      suggestions: [`Run \`svcctl task wait ${task.id}\`, or give it longer with --timeout.`],
    })
  }
}

function glimpse(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line === '' ? 'it is empty' : JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line)
}

export const cloudErrors = (credentialSource?: string): ErrorsOf => ({
  unauthorized: (asked, answer) => new CloudUnauthorizedError(asked, answer, credentialSource),
  notFound: (asked, answer) => new CloudNotFoundError(asked, answer),
  exhausted: (asked, answer) => new CloudRateLimitedError(asked, answer),
  refused: (asked, answer) => new CloudRefusedError(asked, answer),
  server: (asked, answer) => new CloudServerError(asked, answer),
  unreadable: (asked, answer, cause) => new CloudUnreadableError(asked, answer, cause),
  unknownOutcome: (asked, cause) => new CloudUnknownOutcomeError(asked, cause),
  taskFailed: (asked, task) => new CloudTaskFailedError(asked, task),
  taskTimeout: (asked, task) => new CloudTaskTimeoutError(asked, task),
})

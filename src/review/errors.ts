/** What goes wrong between us and the host of the code. */
import {AppError, EXIT} from '../base/errors.ts'
import type {CodeHost} from '../config/ci-job.ts'
import type {ConnectionError} from '../transport/connection-error.ts'

export const NAMES: Readonly<Record<CodeHost, string>> = {github: 'GitHub', gitlab: 'GitLab'}

/** What says where the API of each is. */
export const ADDRESSES: Readonly<Record<CodeHost, string>> = {github: 'GITHUB_API_URL', gitlab: 'CI_API_V4_URL'}

/** Nobody says which repository, which request or with which token. */
export class ReviewPlaceError extends AppError {
  constructor(host: CodeHost, missing: string, variables: string) {
    super(`svcctl does not know which ${missing} of ${NAMES[host]} to use`, {
      code: 'E_REVIEW_PLACE',
      exit: EXIT.usage,
      suggestions: [`Set ${variables}, as a CI job has it.`],
    })
  }
}

/** The token is none, or may not do this. */
export class ReviewDeniedError extends AppError {
  constructor(host: CodeHost, doing: string, status: number, said: string) {
    super(`${NAMES[host]} does not let this token ${doing} (${status}${said === '' ? '' : `: ${said}`})`, {
      code: 'E_REVIEW_DENIED',
      exit: EXIT.unauthorized,
      suggestions: [
        host === 'github'
          ? 'Give the job "permissions: pull-requests: write", or set GITHUB_TOKEN to a token that may write comments.'
          : 'Set GITLAB_TOKEN to a project access token with the scope api; the token of the job may not write notes.',
      ],
    })
  }
}

/** The same, with what helps here: options of a connection are those of the two APIs, and a comment is looked for before it is written. */
export function hostUnreachable(
  host: CodeHost,
  error: ConnectionError,
  request: {readonly method: string; readonly url: string},
): ConnectionError {
  const {failure} = error
  if (failure === 'aborted' || failure === 'proxy') return error
  const suggestions = [
    failure === 'too-large'
      ? 'If this server is right to answer so much, allow it with the variable SVC_MAX_RESPONSE=256MiB.'
      : `This is the API of ${NAMES[host]}: check that it can be reached, and the address in ${ADDRESSES[host]}; then run the command again.`,
    ...(failure === 'tls' ? ['Trust the authority of its certificate with NODE_EXTRA_CA_CERTS.'] : []),
  ]
  return error.advising(suggestions, request)
}

/** An answer nothing can be made of. */
export class ReviewAnswerError extends AppError {
  constructor(host: CodeHost, doing: string, status: number, said: string) {
    super(`${NAMES[host]} did not ${doing}: it answered ${status}${said === '' ? '' : `: ${said}`}`, {
      code: 'E_REVIEW_ANSWER',
      ...(status === 404 ? {exit: EXIT.notFound} : {}),
      suggestions: [
        status === 404
          ? 'Check the repository, the number of the request, and that the token may read them.'
          : 'Run the command again; with -vv it says what was asked.',
      ],
    })
  }
}

/** Nobody has approved exactly this. Nothing was sent. */
export class NotApprovedError extends AppError {
  constructor(host: CodeHost, reason: string) {
    super(`${NAMES[host]} has no approval of this plan: ${reason}`, {
      code: 'E_NOT_APPROVED',
      exit: EXIT.refused,
      suggestions: ['Have the plan that the comment shows approved by somebody else than its author, at the commit it is made from.'],
    })
  }
}

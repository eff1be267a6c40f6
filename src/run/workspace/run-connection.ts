import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {AppError} from '../../base/errors.ts'

/** No stack has anything at an API any more, and a run that did not end has: it is settled there, and there is no connection. */
export class RunConnectionError extends AppError {
  constructor(run: string, {stack, api, cause}: {readonly stack: string; readonly api: Api; readonly cause: AppError}) {
    super(`run ${run} did not end, and what it has begun for stack ${stack} at the ${api} API is to be settled first: ${cause.message}`, {
      code: 'E_RUN_CONNECTION',
      exit: cause.exit,
      suggestions: [
        'Give the connection that this run had, and run the command again: nothing is declared there any more, and it is not needed for longer.',
        ...cause.suggestions,
        `If what is behind that API is gone for good, look at what the run did (svcctl runs show ${run}), and move its journal out of .svcctl/runs.`,
      ],
      cause,
    })
  }
}

/** @param begun - kinds of what runs have begun for the stack, where nothing else is why the connection is needed @throws RunConnectionError */
export const forRun =
  (begun: ReadonlyMap<string, string> | undefined, stack: string, api: Api) =>
  (error: unknown): never => {
    const [run] = [...(begun ?? [])].flatMap(([kind, it]) => (kinds.get(kind)?.api === api ? [it] : []))
    throw run === undefined || !(error instanceof AppError) ? error : new RunConnectionError(run, {stack, api, cause: error})
  }

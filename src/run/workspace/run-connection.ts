import {kinds} from '../../backends/kinds.ts'
import type {Api} from '../../base/apis.ts'
import {AppError} from '../../base/errors.ts'
import type {BegunBy} from '../journal/kinds-begun.ts'

/** No stack has anything at an API any more, and a run that did not end has: it is settled there, and there is no connection. */
export class RunConnectionError extends AppError {
  constructor(
    {run, inJournal, inLedger}: BegunBy,
    {stack, api, cause}: {readonly stack: string; readonly api: Api; readonly cause: AppError},
  ) {
    const journal = `look at what the run did (svcctl runs show ${run}), and move its journal out of .svcctl/runs`
    const ledger = `take it out of svcctl.pending in the ledger of stack ${stack}, which is what other machines know of it`
    const elsewhere = `what the run did is known where it ran (svcctl runs show ${run}, there); here ${ledger}`
    super(`run ${run} did not end, and what it has begun for stack ${stack} at the ${api} API is to be settled first: ${cause.message}`, {
      code: 'E_RUN_CONNECTION',
      exit: cause.exit,
      suggestions: [
        'Give the connection that this run had, and run the command again: nothing is declared there any more, and it is not needed for longer.',
        ...cause.suggestions,
        `If what is behind that API is gone for good, ${inJournal ? [journal, ...(inLedger ? [ledger] : [])].join('; then ') : elsewhere}.`,
      ],
      cause,
    })
  }
}

/** @param begun - kinds of what runs have begun for the stack, where nothing else is why the connection is needed @throws RunConnectionError */
export const forRun =
  (begun: ReadonlyMap<string, BegunBy> | undefined, stack: string, api: Api) =>
  (error: unknown): never => {
    const [by] = [...(begun ?? [])].flatMap(([kind, it]) => (kinds.get(kind)?.api === api ? [it] : []))
    throw by === undefined || !(error instanceof AppError) ? error : new RunConnectionError(by, {stack, api, cause: error})
  }

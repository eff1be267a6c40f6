/**
 * Whose a ledger is, where two apps have a stack of one name and keep it at one address: each would plan to delete what the other
 * one has made. cdktf gives every app that it begins a `projectId`, and a ledger names the one of the app that wrote it first.
 */
import {AppError, EXIT} from '../base/errors.ts'
import type {LedgerPlace, OwnApp} from './errors.ts'

/** Another app wrote it. Nothing was sent. */
export class LedgerOfOtherAppError extends AppError {
  constructor({place, stack}: LedgerPlace, owner: string, {projectId}: OwnApp) {
    const own = projectId === undefined ? 'has none' : `has ${JSON.stringify(projectId)}`
    super(
      `The ledger ${place} belongs to a stack "${stack}" of another app, whose projectId is ${JSON.stringify(owner)}: this cdktf.json ${own}.`,
      {
        code: 'E_LEDGER_APP',
        exit: EXIT.refused,
        suggestions: [
          `Give the stack "${stack}" of this app a backend (or --state FILE) of its own: what the other app has made would be deleted.`,
          `If this is the same app after all, give its cdktf.json the projectId back that it had: {"projectId": ${JSON.stringify(owner)}}.`,
          `If the stack has come here from that app, which does not have it any more, say so in cdktf.json: {"svcctl": {"formerProjects": [${JSON.stringify(owner)}]}}.`,
        ],
      },
    )
  }
}

/** @throws LedgerOfOtherAppError */
export function assertOwnApp(owner: string | undefined, where: LedgerPlace): void {
  const {app} = where
  // Older ledgers name nobody, and outside of an app (a saved plan is applied) nobody asks.
  if (app === undefined || owner === undefined || owner === app.projectId || app.formerProjects.includes(owner)) return
  throw new LedgerOfOtherAppError(where, owner, app)
}

/** A saved plan that may not be applied any more. */
import {AppError, EXIT} from '../../base/errors.ts'

/** Facts the plan was made from have moved. Nothing was sent. */
export class StalePlanError extends AppError {
  constructor(moved: readonly {readonly address: string; readonly message: string}[]) {
    super(`the plan is stale: ${moved.map(it => `${it.address}: ${it.message}`).join('; ')}`, {
      code: 'E_PLAN_STALE',
      exit: EXIT.stale,
      problems: moved,
      suggestions: [
        'Plan again, and look at what is different (of saved plans: svcctl plan diff OLD NEW). What was approved is the old plan: a new one needs its own approval.',
      ],
    })
  }
}

export class PlanExpiredError extends AppError {
  constructor(notAfter: string) {
    super(`the plan may be applied until ${notAfter} and not later`, {
      code: 'E_PLAN_EXPIRED',
      exit: EXIT.stale,
      suggestions: ['Plan again with: svcctl plan --out FILE'],
    })
  }
}

import {AppError} from '../../src/base/errors.ts'

/** Nothing where the work is refused for one of these reasons; any other error is one. */
export const unless =
  (codes: readonly string[]) =>
  async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError && codes.includes(error.code)) return undefined
      throw error
    }
  }

/** What a plan of a random world may be refused for. */
export const REFUSALS = ['E_AMBIGUOUS_IDENTITY', 'E_PLAN_PROBLEMS', 'E_OPERATION_CYCLE']
/** The same where parts of a run are asked for by name. */
export const REFUSALS_OF_PARTS = [...REFUSALS, 'E_UNKNOWN_ADDRESS', 'E_TARGET_UNSELECTED']

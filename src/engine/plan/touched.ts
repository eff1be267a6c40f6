import type {Operation, Plan} from '../model/plan.ts'

/** Operations that do something. */
export const touched = (plan: Plan): Operation[] => plan.operations.filter(it => it.action !== 'no-op')

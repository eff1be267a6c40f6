/**
 * The rules that refuse a plan as a whole. They are evaluated from the plan's operations, when it is made and again
 * when it is applied; a saved result is never trusted.
 */

import type {Kinds} from './kind.ts'
import type {GuardResult, Operation, Plan} from './plan.ts'
import {Words} from './selector.ts'
import {keyOf, spoken} from './value.ts'

/** What guards look at: nothing that is not in the plan. */
export type Guarded = Pick<Plan, 'operations' | 'stacks' | 'lifts' | 'destroy'>

const DEFAULT_MAX_DESTROY = '30%'

/** A stack that owns fewer objects than this has no percentage threshold. */
const POPULATION = 10

export function evaluateGuards(plan: Guarded, kinds: Kinds): GuardResult[] {
  const {lifts} = plan
  const covered = plan.stacks.map(it => it.name)
  const said = (it: Operation): string => spoken(keyOf(it.stack, it.address), covered)
  const guard = (code: string, operations: readonly Operation[], allow: string, message: string): GuardResult[] =>
    operations.length === 0 ? [] : [{code, addresses: operations.map(said), allow, message}]
  const destroying = plan.operations.filter(it => it.action === 'delete' || it.action === 'replace')
  const allowance = new Words(lifts.allowDestroy, plan.operations, kinds)
  const allowed = (it: Operation) => allowance.mean(it)
  const refused = destroying.filter(it => !allowed(it))
  const noLedger = (it: Operation) => plan.stacks.find(stack => stack.name === it.stack)?.ledgerCondition === 'absent'
  const adopted = refused.filter(it => it.action === 'delete' && it.origin !== undefined && it.origin !== 'created')
  const unowned = refused.filter(it => it.action === 'delete' && noLedger(it) && !adopted.includes(it))
  const guarded = refused.filter(it => kinds.get(it.kind)?.guarded && !adopted.includes(it) && !unowned.includes(it))
  const risky = plan.operations.filter(it => it.changes.some(change => change.risk !== undefined))
  const drifted = plan.operations.filter(it => it.changes.some(change => change.moved === 'outside' || change.moved === 'both'))
  return [
    ...guard('G_PROTECTED', guarded, '--allow-destroy ADDRESS|KIND', 'these hold data and would be deleted or replaced'),
    ...guard('G_ADOPTED', adopted, '--allow-destroy ADDRESS', 'these were not created from here, only adopted or imported'),
    ...guard('G_NO_LEDGER', unowned, '--allow-destroy ADDRESS', 'without a ledger nothing proves that these are ours'),
    ...guard(
      'G_PREVENT_DESTROY',
      destroying.filter(preventsDestroy),
      'take prevent_destroy out of the stack',
      'lifecycle.prevent_destroy is set on these',
    ),
    ...thresholds(plan, destroying, said),
    ...emptied(plan),
    ...(lifts.refuseRisky ? guard('G_RISKY', risky, 'leave out --refuse-risky', 'these changes may lose data or availability') : []),
    ...(lifts.onDrift === 'refuse'
      ? guard('G_DRIFT', drifted, '--on-drift overwrite|keep', `somebody changed declared fields since the last apply: ${driftOf(drifted)}`)
      : []),
    ...(lifts.skipBlocked
      ? []
      : guard(
          'G_BLOCKED',
          plan.operations.filter(it => it.action === 'blocked' && it.elsewhere === undefined),
          '--skip-blocked, or --accept ADDRESS when it is so already',
          'the API has no way to do these',
        )),
    ...(lifts.skipBlocked
      ? []
      : guard(
          'G_ELSEWHERE',
          plan.operations.filter(it => it.elsewhere !== undefined),
          'svcctl transfer, or --skip-blocked for the rest',
          'another stack has these',
        )),
  ]
}

const preventsDestroy = (it: Operation): boolean => it.declared?.policy.preventDestroy === true || it.preventDestroy === true

const driftOf = (operations: readonly Operation[]): string =>
  operations
    .map(
      it =>
        `${it.address} ${it.changes
          .filter(change => change.moved === 'outside' || change.moved === 'both')
          .map(change => change.path)
          .join(', ')}`,
    )
    .join('; ')

function thresholds({stacks, lifts, destroy}: Guarded, destroying: readonly Operation[], said: (it: Operation) => string): GuardResult[] {
  if (destroy || lifts.allowDestroy.includes('*')) return []
  const maxDestroy = lifts.maxDestroy ?? DEFAULT_MAX_DESTROY
  const most = Number.parseInt(maxDestroy, 10)
  return stacks.flatMap(stack => {
    const own = destroying.filter(it => it.stack === stack.name)
    const share = maxDestroy.endsWith('%')
    const over = share ? stack.owned >= POPULATION && own.length * 100 > stack.owned * most : own.length > most
    if (!over) return []
    const limit = share ? `${most} %` : String(most)
    return [
      {
        code: 'G_THRESHOLD',
        addresses: own.map(said),
        allow: "--max-destroy N|N%, or --allow-destroy '*'",
        message: `${stack.name}: ${own.length} of ${stack.owned} owned objects would go, more than ${limit}`,
      },
    ]
  })
}

function emptied(plan: Guarded): GuardResult[] {
  if (plan.destroy) return []
  return plan.stacks
    .filter(stack => stack.declared === 0 && stack.owned > 0)
    .map(stack => ({
      code: 'G_EMPTY',
      addresses: plan.operations.filter(it => it.stack === stack.name && it.action !== 'no-op').map(it => it.address),
      allow: `run svcctl destroy --stack ${stack.name} if all of it should go`,
      message: `${stack.name} declares nothing and owns ${stack.owned} objects`,
    }))
}

/** What the options and the profile lift or decide for a plan, and what may be added when a saved one is applied. */

import {UsageError} from '../../base/usage-error.ts'
import type {Settings} from '../../config/settings.ts'
import type {Lifts, Plan} from '../../engine/model/plan.ts'
import type {ApplyOptions, PlanOptions} from './plan-options.ts'

/** @throws UsageError when `--max-destroy` is neither a number nor a share, nor both */
export function liftsOf(options: PlanOptions, settings: Settings | undefined): Lifts {
  const maxDestroy = options.maxDestroy ?? settings?.maxDestroy
  return {
    allowDestroy: options.allowDestroy ?? [],
    adopt: options.adopt ?? (settings?.adopt === 'changes' ? ['*'] : []),
    accept: options.accept ?? [],
    skipBlocked: options.skipBlocked ?? false,
    ...(options.skipHeld ? {skipHeld: true as const} : {}),
    onDrift: options.onDrift ?? settings?.onDrift ?? 'overwrite',
    ...(maxDestroy === undefined ? {} : {maxDestroy: maxDestroyOf(maxDestroy)}),
    noDestroy: options.noDestroy ?? false,
    refuseRisky: options.refuseRisky ?? settings?.refuseRisky ?? false,
  }
}

function maxDestroyOf(text: string): string {
  const limits = text.split(',').map(it => /^0*(\d+%?)$/.exec(it.trim())?.[1])
  if (limits.length > 2 || limits.includes(undefined))
    throw new UsageError(`--max-destroy ${JSON.stringify(text)} is neither a number nor a share`, [
      'Write --max-destroy 5, --max-destroy 30%, or --max-destroy 5,30% where both are to hold.',
    ])
  return limits.join(',')
}

/**
 * What holds while a saved plan is applied: what was said when it was made. Options may always refuse more; they lift
 * more only where nobody approved the plan by its hash, for the hash says what is lifted.
 */
export function liftsToApply(plan: Plan, options: ApplyOptions, settings: Settings | undefined): Lifts {
  const {lifts} = plan
  const now = liftsOf(options, settings)
  const asked = options.onDrift ?? lifts.onDrift
  const tightened: Lifts = {
    ...lifts,
    // What the plan writes back cannot be left out of it now.
    onDrift: asked === lifts.onDrift || asked === 'overwrite' ? lifts.onDrift : 'refuse',
    noDestroy: lifts.noDestroy || now.noDestroy,
    refuseRisky: lifts.refuseRisky || options.refuseRisky === true,
  }
  if (options.approve !== undefined) return tightened
  return {
    ...tightened,
    allowDestroy: [...new Set([...lifts.allowDestroy, ...now.allowDestroy])].sort(),
    adopt: [...new Set([...lifts.adopt, ...now.adopt])].sort(),
    skipBlocked: lifts.skipBlocked || now.skipBlocked,
    ...(lifts.skipHeld || now.skipHeld ? {skipHeld: true as const} : {}),
    refuseRisky: options.refuseRisky ?? (lifts.refuseRisky || now.refuseRisky),
    ...(asked === 'overwrite' && lifts.onDrift === 'refuse' ? {onDrift: asked} : {}),
    ...(options.maxDestroy === undefined || now.maxDestroy === undefined ? {} : {maxDestroy: now.maxDestroy}),
  }
}

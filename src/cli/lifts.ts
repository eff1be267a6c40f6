/** What the options and the profile lift or decide for a plan, and what may be added when a saved one is applied. */
import type {Settings} from '../config/settings.ts'
import type {Lifts, Plan} from '../engine/model/plan.ts'
import type {PlanFlags} from './plan-run.ts'
import {UsageError} from './usage-error.ts'

/** @throws UsageError when `--max-destroy` is neither a number nor a share */
export function liftsOf(flags: PlanFlags, settings: Settings | undefined): Lifts {
  const maxDestroy = flags['max-destroy'] ?? settings?.maxDestroy
  return {
    allowDestroy: flags['allow-destroy'] ?? [],
    adopt: flags.adopt ?? (settings?.adopt === 'changes' ? ['*'] : []),
    accept: flags.accept ?? [],
    skipBlocked: flags['skip-blocked'] ?? false,
    onDrift: flags['on-drift'] ?? settings?.onDrift ?? 'overwrite',
    ...(maxDestroy === undefined ? {} : {maxDestroy: maxDestroyOf(maxDestroy)}),
    noDestroy: flags['no-destroy'] ?? false,
    refuseRisky: flags['refuse-risky'] ?? settings?.refuseRisky ?? false,
  }
}

function maxDestroyOf(text: string): string {
  const match = /^0*(\d+%?)$/.exec(text.trim())
  if (match?.[1] === undefined)
    throw new UsageError(`--max-destroy ${JSON.stringify(text)} is neither a number nor a share`, [
      'Write --max-destroy 5 or --max-destroy 30%.',
    ])
  return match[1]
}

/**
 * What holds while a saved plan is applied: what was said when it was made. Options may always refuse more; they lift
 * more only where nobody approved the plan by its hash, for the hash says what is lifted.
 */
export function liftsToApply(
  plan: Plan,
  flags: PlanFlags & {readonly approve?: string | undefined},
  settings: Settings | undefined,
): Lifts {
  const {lifts} = plan
  const now = liftsOf(flags, settings)
  const asked = flags['on-drift'] ?? lifts.onDrift
  const tightened: Lifts = {
    ...lifts,
    // What the plan writes back cannot be left out of it now.
    onDrift: asked === lifts.onDrift || asked === 'overwrite' ? lifts.onDrift : 'refuse',
    noDestroy: lifts.noDestroy || now.noDestroy,
    refuseRisky: lifts.refuseRisky || flags['refuse-risky'] === true,
  }
  if (flags.approve !== undefined) return tightened
  return {
    ...tightened,
    allowDestroy: [...new Set([...lifts.allowDestroy, ...now.allowDestroy])].sort(),
    adopt: [...new Set([...lifts.adopt, ...now.adopt])].sort(),
    skipBlocked: lifts.skipBlocked || now.skipBlocked,
    refuseRisky: flags['refuse-risky'] ?? (lifts.refuseRisky || now.refuseRisky),
    ...(asked === 'overwrite' && lifts.onDrift === 'refuse' ? {onDrift: asked} : {}),
    ...(flags['max-destroy'] === undefined || now.maxDestroy === undefined ? {} : {maxDestroy: now.maxDestroy}),
  }
}

/** From the options of a command line to those of the application. */
import type {Selection} from '../../engine/observe/select.ts'
import type {ApplyOptions} from '../../run/host/plan-options.ts'

/** Parsed values of the options of planning. */
export interface PlanFlags {
  readonly target?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly 'allow-destroy'?: readonly string[] | undefined
  readonly 'max-destroy'?: string | undefined
  readonly 'no-destroy'?: boolean | undefined
  readonly 'refuse-risky'?: boolean | undefined
  readonly 'on-drift'?: 'overwrite' | 'refuse' | 'keep' | undefined
  readonly 'skip-blocked'?: boolean | undefined
  readonly 'skip-held'?: boolean | undefined
  readonly adopt?: readonly string[] | undefined
  readonly accept?: readonly string[] | undefined
  readonly 'max-inflight'?: number | undefined
  readonly unmanaged?: boolean | undefined
  readonly approve?: string | undefined
  readonly commit?: string | undefined
}

export const planOptions = (flags: PlanFlags): ApplyOptions => ({
  target: flags.target,
  exclude: flags.exclude,
  allowDestroy: flags['allow-destroy'],
  adopt: flags.adopt,
  accept: flags.accept,
  maxDestroy: flags['max-destroy'],
  noDestroy: flags['no-destroy'],
  refuseRisky: flags['refuse-risky'],
  onDrift: flags['on-drift'],
  skipBlocked: flags['skip-blocked'],
  skipHeld: flags['skip-held'],
  maxInflight: flags['max-inflight'],
  unmanaged: flags.unmanaged,
  approve: flags.approve,
  commit: flags.commit,
})

export const selectionOf = ({target = [], exclude = []}: Pick<PlanFlags, 'target' | 'exclude'>): Selection => ({target, exclude})

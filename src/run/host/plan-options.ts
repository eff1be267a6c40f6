/** What whoever asks for a plan may wish. Absent: what the profile says, then the default. */
import type {Lifts} from '../../engine/model/plan.ts'

export interface PlanOptions {
  /** Objects by address, construct path, remote id, name or glob: these and what they depend on. */
  readonly target?: readonly string[] | undefined
  /** The same words: not these, nor what depends on them. */
  readonly exclude?: readonly string[] | undefined
  /** Objects or kinds that may be deleted and replaced; `*` is all. */
  readonly allowDestroy?: readonly string[] | undefined
  /** Objects or kinds that may be taken over although that changes them; `*` is all. */
  readonly adopt?: readonly string[] | undefined
  /** Blocked objects whose declared state is recorded as reached. */
  readonly accept?: readonly string[] | undefined
  /** A number (`5`), or a share of what is owned (`30%`). */
  readonly maxDestroy?: string | undefined
  readonly noDestroy?: boolean | undefined
  readonly refuseRisky?: boolean | undefined
  readonly onDrift?: Lifts['onDrift'] | undefined
  readonly skipBlocked?: boolean | undefined
  /** Do the rest of a plan with held operations. */
  readonly skipHeld?: boolean | undefined
  /** Most changes that run at once: the bill says how long the apply will be. */
  readonly maxInflight?: number | undefined
  /** Lists what nobody declares instead of counting it. */
  readonly unmanaged?: boolean | undefined
  /** What the plan is made from; absent: what the CI job says. */
  readonly commit?: string | undefined
}

/** What may be said when a saved plan is applied. */
export interface ApplyOptions extends PlanOptions {
  /** The hash that was approved, or its first digits. */
  readonly approve?: string | undefined
}

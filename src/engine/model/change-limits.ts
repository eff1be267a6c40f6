/** How many changes may run at once; absent is no limit of ours. Contract: none. */
export interface ChangeLimits {
  /** In one root object: a subscription. */
  readonly perRoot?: number
  /** Root objects with a change in them, per account. */
  readonly roots?: number
  /** In all (`--max-inflight`). */
  readonly inFlight?: number
}

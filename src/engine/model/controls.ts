/** What people have said about a stack or an account for a while: holds and freezes. Where that is kept is `src/controls`. */

/** A person's word that something is to stay as it is for a while. */
export interface Agreed {
  readonly by: string
  /** RFC 3339, UTC. */
  readonly until: string
  readonly reason: string
}

/** Nothing is sent and no ledger is changed, whatever it is about. */
export interface Freeze extends Agreed {
  readonly id: string
  /** The stack it is of; absent: of an account. */
  readonly stack?: string
  readonly at: string
  /** `--break-glass` does not pass it. */
  readonly strict: boolean
}

/** A freeze as a run meets it. */
export interface FreezeInForce extends Freeze {
  /** Of an account's, in words: `cloud account at https://…`. */
  readonly account?: string
  /** Of an account's: the profile that names the account, where one does. */
  readonly profile?: string
}

/** One object stays as it is. */
export interface Hold extends Agreed {
  readonly stack: string
  readonly address: string
  readonly kind: string
  /** Where there was an object already: it is held whatever address it goes by later. */
  readonly remoteId?: string
  readonly at: string
}

export interface Controls {
  readonly serial: number
  readonly freezes: readonly Freeze[]
  readonly holds: readonly Hold[]
}

export const NO_CONTROLS: Controls = {serial: 0, freezes: [], holds: []}

/** `stack shop is frozen by ada until … (f-1a2b3c4d): release week` */
export const frozenWords = ({id, stack, account = 'the account', by, until, reason, strict}: Omit<FreezeInForce, 'at'>): string =>
  `${stack === undefined ? account : `stack ${stack}`} is frozen by ${by} until ${until} (${strict ? 'strict, ' : ''}${id}): ${reason}`

export const heldWords = ({by, until, reason}: Agreed): string => `held by ${by} until ${until}: ${reason}`

export const agreed = ({by, until, reason}: Agreed): Agreed => ({by, until, reason})

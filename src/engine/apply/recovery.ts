import type {Api} from '../../base/apis.ts'
import type {Clock} from '../../base/clock.ts'
import type {AppError} from '../../base/errors.ts'
import type {Backend} from '../model/backend.ts'
import type {BeforeImage} from '../model/before-image.ts'
import type {Lookup} from '../model/declaration.ts'
import type {Emit, Step} from '../model/events.ts'
import type {DeadRun, JournalEntry} from '../model/journal.ts'
import type {Ids, Kinds} from '../model/kind.ts'
import type {Ledger, LedgerEntry, MadeVersion} from '../model/ledger.ts'
import type {AccountOf} from '../model/ownership.ts'
import type {OpenLeaf, Operation} from '../model/plan.ts'
import type {Key, Secret} from '../model/value.ts'
import type {LedgerBook} from './ledger-book.ts'
import type {Pace} from './shared-watch.ts'

export interface RecoverInput {
  readonly run: string
  readonly dead: DeadRun
  /** The operations of the dead run's plan. */
  readonly operations: readonly Operation[]
  readonly kinds: Kinds
  readonly backendOf: (stack: string, api: Api) => Backend
  /** Absent: all stacks share one. */
  readonly accountOf?: AccountOf
  readonly book: LedgerBook
  /** The version of each stack's ledger before this recovery, or that of another dead run beside it, wrote anything. */
  readonly versions: ReadonlyMap<string, MadeVersion>
  /** What the ledgers had before the dead run began; absent: nobody can tell any more. */
  readonly before?: BeforeImage | undefined
  /** Secrets as they are declared now; nobody says that they are what the dead run sent. */
  readonly secret: (operation: Operation, leaf: OpenLeaf) => Secret
  /** Whether a secret is the one that this digest of the journal was made from. */
  readonly wasSent: (digest: string, context: string, secret: Secret) => Promise<boolean>
  /** Whether a ledger that travels says still that nobody has settled the create of this key; `undefined`: none tells. */
  readonly isOpenStill?: (key: Key) => boolean | undefined
  /** Whether a create that turns out never to have happened is sent again right behind this. */
  readonly isWanted: (key: Key) => boolean
  /** Whether the ledger says of the object that this very secret was sent to it. */
  readonly isRecorded: (ledger: Ledger, entry: LedgerEntry, pointer: string, secret: Secret) => Promise<boolean>
  /** Whether the ledger of another stack has an object of this one's account by now. */
  readonly isElsewhere?: (stack: string, remoteId: string) => boolean
  readonly evaluate: (expression: string, stack: string, lookup: Lookup) => ReturnType<Lookup['attribute']>
  readonly lookup: Lookup
  readonly clock: Clock
  readonly pace: Pace
  readonly lagMs: number
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly emit: Emit
  /** Writes into the dead run's own journal. */
  readonly note: (entry: JournalEntry) => void
}

/** A request nobody can tell the end of yet: nothing may be done to its object, nor to what hangs on it. */
export interface Undecided {
  readonly key: Key
  readonly step: Step
  readonly kind: string
  /** Why. */
  readonly error: AppError
  readonly name?: string
  readonly remoteId?: string
  /** Of a create: where it is made. */
  readonly parent?: Ids
}

export interface Recovered {
  /** Objects that exist and are in the ledger now. */
  readonly found: readonly {readonly key: Key; readonly remoteId: string}[]
  /** Requests that did not take effect. */
  readonly void: readonly Key[]
  readonly failed: readonly {readonly key: Key; readonly error: AppError}[]
  readonly unknown: readonly Undecided[]
}

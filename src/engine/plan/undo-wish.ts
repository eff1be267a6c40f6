/** What an undo is made from, and what it wishes for each operation of the run. */
import type {JsonObject} from '../../base/json.ts'
import type {BeforeImage} from '../model/before-image.ts'
import type {Declaration} from '../model/declaration.ts'
import type {Kinds} from '../model/kind.ts'
import type {Ledger, LedgerEntry, LedgerVersion} from '../model/ledger.ts'
import type {Operation, Plan} from '../model/plan.ts'
import type {Key} from '../model/value.ts'
import type {FieldLeft} from './undo-fields.ts'

export interface UndoInput {
  readonly plan: Pick<Plan, 'operations' | 'stacks'>
  /** What the run did: its operations that came to something, with the object each of them made or changed. */
  readonly done: ReadonlyMap<Key, {readonly remoteId?: string}>
  readonly image: BeforeImage
  /** The ledgers as the run left them, where its journal says. */
  readonly versions: ReadonlyMap<string, LedgerVersion>
  /** By key, the secrets of what the run has written, as its ledgers had them then: digests by JSON pointer. */
  readonly secretsLeft: ReadonlyMap<Key, LedgerEntry['secrets']>
  /** As they are now, of the stacks of the run. */
  readonly ledgers: ReadonlyMap<string, Ledger>
  /** Of the other stacks. */
  readonly others: readonly Ledger[]
  readonly kinds: Kinds
  /** What was deleted or replaced is made again, empty. */
  readonly recreate: boolean
  /** Live fields by stack and remote path, of what was looked at already. */
  readonly live: ReadonlyMap<string, JsonObject>
  /** Operations of the run of which is known that they stay as they are. */
  readonly left: ReadonlySet<Key>
}

export const liveKey = (stack: string, remoteId: string): string => `${stack} ${remoteId}`

/** What is not undone of one object, or of a field of it. */
export interface Left extends FieldLeft {
  /** Of the run's operation. */
  readonly key: Key
  readonly kind: string
}

/** One operation of the run on its way back. */
export interface UndoOperation {
  /** The run's. */
  readonly of: Operation
  /** Where it stands in the plan. */
  readonly key: Key
  readonly declaration?: Declaration
  /** It goes, as nobody declares it. */
  readonly removes?: 'delete' | 'forget'
  /** The address that the ledger of the stack has it under. */
  readonly movedFrom?: string
  /** Ledger entries that it is about. */
  readonly entries: readonly Key[]
  readonly secretsKept: readonly string[]
  /** In words; of what is made again. */
  readonly risk?: string
}

export interface UndoDraft {
  readonly wishes: readonly UndoOperation[]
  readonly conflicts: readonly Left[]
  readonly impossible: readonly Left[]
}

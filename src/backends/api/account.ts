/** Which account a connection speaks for (design section 10, "Account"). */
import type {JsonObject} from '../../base/json.ts'

export interface Account {
  /** Tells two accounts apart; what the ledger records and `account` of a target pins. */
  readonly key: string
  readonly name?: string
  /** As the API spells it. */
  readonly body: JsonObject
}

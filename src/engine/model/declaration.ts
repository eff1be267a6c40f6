/** What the stacks want: the declaration layer makes these, the planner reads them. */
import type {Json} from '../../base/json.ts'
import type {Key, Value, ValueObject} from './value.ts'

/** Where a thing was written. */
export interface Source {
  /** cdktf's construct path: `shop/orders/cache`. */
  readonly construct?: string
  readonly file?: string
  readonly line?: number
}

/** Where a declaration stands, for a problem: `file:line`, or the construct. */
export function sourceOf({source: {file, line, construct}}: {readonly source: Source}): {readonly source?: string} {
  const place = file === undefined ? construct : line === undefined ? file : `${file}:${line}`
  return place === undefined ? {} : {source: place}
}

/** How a declaration names its parent. */
export type ParentRef =
  /** Another declaration, of this stack or another one of the app. */
  | {
      readonly by: 'key'
      readonly key: Key
      /** In a plan that does not cover the parent: where it is. */
      readonly remoteId?: string
      /** Beside that, where the ledger has another object under the key, which makes room in a later plan: that one. */
      readonly ledgerHas?: string
    }
  /** `cloud/subscriptions/12` */
  | {readonly by: 'remoteId'; readonly remoteId: string}
  /** All digits. */
  | {readonly by: 'id'; readonly id: string}
  | {readonly by: 'name'; readonly name: string}

/** What is ours and not the API's; the `policy` trigger and Terraform's `lifecycle` together. */
export interface Policy {
  /** Collections in which whatever nobody declares is deleted: `databases`, `peerings`. */
  readonly exclusive: readonly string[]
  /** When the declaration goes: `delete` (default) or leave the object and forget it. */
  readonly removal: 'delete' | 'retain'
  /** JSON pointers of fields that are not compared; `['']` is the whole object. */
  readonly ignoreChanges: readonly string[]
  readonly preventDestroy: boolean
  readonly createBeforeDestroy: boolean
}

export interface Declaration {
  readonly stack: string
  /** Terraform's: `null_resource.cache`, `null_resource.cache["a"]`. */
  readonly address: string
  /** `stack:address` */
  readonly key: Key
  readonly kind: string
  /** The declared fields, coerced to the kind's schema, the parent field left out. `null` is a value. */
  readonly spec: ValueObject
  readonly parent?: ParentRef
  /** Every object this one reads or was told to wait for, without the parent; each with the reason. */
  readonly dependsOn: readonly Dependency[]
  readonly policy: Policy
  /** `out/<name>` triggers: live fields somebody reads. */
  readonly outputs: readonly string[]
  readonly source: Source
  /** The remote path of an `import` block. */
  readonly importId?: string
  /** Spec fields whose secret was written in clear in the stack. */
  readonly clearSecrets: readonly string[]
}

export interface Dependency {
  readonly key: Key
  readonly reason: 'reference' | 'depends_on'
}

/** What a declaration hangs on: its parent, where that is declared too, and then whatever it reads or waits for. */
export function neededBy({parent, dependsOn}: Pick<Declaration, 'parent' | 'dependsOn'>): Key[] {
  const keys = parent?.by === 'key' ? [parent.key] : []
  for (const {key} of dependsOn) keys.push(key)
  return keys
}

export interface OutputDeclaration {
  readonly name: string
  readonly value: Value
  readonly sensitive: boolean
  readonly description?: string
}

/** Where a ledger is kept: data that travels in plans, and that only its backend (`src/ledger/backends`) reads. */
export interface LedgerLocation {
  /** The word of the `backend` block. */
  readonly type: string
  readonly [argument: string]: string | number | boolean
}

export interface Target {
  readonly profile?: string
  readonly account?: string
}

/** One stack, read and evaluated. */
export interface StackDeclarations {
  readonly name: string
  readonly declarations: readonly Declaration[]
  readonly outputs: readonly OutputDeclaration[]
  readonly targets: {readonly cloud?: Target; readonly cluster?: Target}
  readonly ledger: LedgerLocation
  /** `moved` blocks. */
  readonly moved: readonly {readonly from: string; readonly to: string}[]
  /** `removed` blocks; `destroy: false` forgets. */
  readonly removed: readonly {readonly from: string; readonly destroy: boolean}[]
  readonly warnings: readonly string[]
}

/** How a deferred or secret expression of a plan is answered during an apply. */
export interface Lookup {
  /** A variable's value. */
  variable(stack: string, name: string): Json | undefined
  /** `id` of an object, or `out/<name>` answered from its live fields. */
  attribute(key: Key, attribute: string): Json | undefined
}

/**
 * Evaluates what `Deferred.expression` or `Secret.expression` left open.
 * @throws AppError when something it reads is still missing
 */
export type Evaluate = (expression: string, stack: string, lookup: Lookup) => Json

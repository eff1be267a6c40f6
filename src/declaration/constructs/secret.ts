import type {IConstruct} from 'constructs'
import {StackCompanion} from './stack-companion.ts'

export interface SecretOptions {
  /**
   * Raise it to send a new value. The ledger then keeps and compares the version alone and nothing derived from the
   * value; without it, a salted digest of the value tells whether it changed.
   */
  readonly version?: string | number
  /** What the value is for. */
  readonly description?: string
}

/**
 * A value that never stands in a stack: the sensitive variable `name`, given at run time as `TF_VAR_<name>`, in a
 * variables file or with `--var`.
 *
 * There is one of a name in a stack, and cdktf does not hash its name; asked for again, it is the same.
 *
 * @returns a token for any text field: `password: secret(this, 'app_password')`
 */
export function secret(scope: IConstruct, name: string, {version, description}: SecretOptions = {}): string {
  return StackCompanion.of(scope).secret(scope, name, {
    version: version === undefined ? undefined : String(version),
    description,
  })
}

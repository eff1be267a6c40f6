/** Secrets in clear for a run: from the declarations that were read, or evaluated again from what the plan says of them. */

import {AppError, EXIT} from '../../base/errors.ts'
import type {Json} from '../../base/json.ts'
import type {Redactor} from '../../base/redact.ts'
import {evaluate, MissingValueError} from '../../declaration/read/residual.ts'
import type {VariableLookup} from '../../declaration/read/variable-lookup.ts'
import {recordedAttribute} from '../../engine/model/attribute.ts'
import type {OpenLeaf, Operation, Plan} from '../../engine/model/plan.ts'
import {openLeaves} from '../../engine/model/resolve.ts'
import {sendsField} from '../../engine/model/sent-field.ts'
import {keyOf, Secret} from '../../engine/model/value.ts'
import type {Observation} from '../../engine/observe/observation.ts'
import type {DeclaredSecrets} from '../../ledger/seal-secrets.ts'
import type {Workspace} from './workspace.ts'

/** A secret of a plan that only its stack can give: it was written there in clear. */
export class ClearSecretError extends AppError {
  constructor(operation: Operation, path: string) {
    super(
      `${operation.address} ${path}: this secret stands in the stack itself, or was made in try, can or a condition, and a plan holds none`,
      {
        code: 'E_CLEAR_SECRET',
        exit: EXIT.usage,
        suggestions: [
          'Give the stacks too (--synth-dir DIR, or run beside cdktf.json), or make it a sensitive variable: secret(this, "name").',
        ],
      },
    )
  }
}

/** The same secret; from now on nothing shows its value. */
export function known(secret: Secret, redactor: Redactor): Secret {
  redactor.registerValue(secret.value)
  return secret
}

/**
 * The secret with the value that `value` gives. One with a version needs none where nothing sends it.
 * @throws MissingValueError
 */
export function orNotGiven(operation: Operation, {path, expression, version}: OpenLeaf, value: () => Json): Secret {
  try {
    return new Secret(value(), expression, version)
  } catch (error) {
    if (!(error instanceof MissingValueError) || version === undefined || sendsField(operation, path)) throw error
    return new Secret(undefined, expression, version)
  }
}

/** What a secret is made of is secret too: a plan does not say which of its variables were declared so. */
export const watched =
  (variable: VariableLookup, redactor: Redactor): VariableLookup =>
  (stack, name) => {
    const value = variable(stack, name)
    redactor.registerValue(value)
    return value
  }

export class RunSecrets {
  readonly #workspace: Workspace
  readonly #pairs: Observation['pairs']

  constructor(workspace: Workspace, pairs: Observation['pairs']) {
    this.#workspace = workspace
    this.#pairs = pairs
  }

  /** @throws ClearSecretError, MissingValueError */
  readonly of = (operation: Operation, open: OpenLeaf): Secret => {
    const {path, expression} = open
    const {stack, address} = operation
    const spec = this.#pairs.get(keyOf(stack, address))?.spec ?? this.#declared(stack, address)
    const leaf = spec && openLeaves(spec).find(it => it.pointer === path)?.leaf
    const {redactor} = this.#workspace.host
    if (leaf instanceof Secret && leaf.value !== undefined) return known(leaf, redactor)
    if (expression === undefined) throw new ClearSecretError(operation, path)
    const attribute = (key: string, name: string): Json | undefined => this.#recorded(key, name)
    const variable = watched(this.#workspace.variable, redactor)
    return known(
      orNotGiven(operation, open, () => evaluate(expression, stack, {variable, attribute})),
      redactor,
    )
  }

  #declared(stack: string, address: string) {
    return this.#workspace.stacks.find(it => it.name === stack)?.declarations.find(it => it.address === address)?.spec
  }

  /** An attribute as the ledgers recorded it. */
  #recorded(key: string, attribute: string): Json | undefined {
    const at = key.indexOf(':')
    const entry = this.#workspace.ledgers.get(key.slice(0, at))?.entries.get(key.slice(at + 1))
    return recordedAttribute(entry, attribute)
  }

  /**
   * Every secret that a plan may send, so that one that cannot be had is missed before anything is sent. What is left as
   * it is sends none.
   * @throws as `of`
   */
  assertAll({operations}: Pick<Plan, 'operations'>): void {
    for (const operation of operations) {
      if (operation.declared === undefined) continue
      for (const leaf of operation.secrets ?? []) this.of(operation, leaf)
    }
  }

  /** Every secret of a stack's operations that can be had, by address and pointer. */
  ofStack(stack: string, {operations}: Pick<Plan, 'operations'>): DeclaredSecrets {
    const found = new Map<string, ReadonlyMap<string, Secret>>()
    for (const operation of operations) {
      if (operation.stack !== stack || operation.secrets === undefined) continue
      const leaves = operation.secrets.flatMap(leaf => {
        const secret = this.#ifKnown(operation, leaf)
        return secret === undefined ? [] : [[leaf.path, secret] as const]
      })
      found.set(operation.address, new Map(leaves))
    }
    return found
  }

  #ifKnown(operation: Operation, leaf: OpenLeaf): Secret | undefined {
    try {
      return this.of(operation, leaf)
    } catch (error) {
      if (error instanceof AppError) return undefined
      throw error
    }
  }

  /** The same for whoever only compares; a secret that cannot be had is none that anything was made from. */
  readonly ifKnown = (operation: Operation, leaf: OpenLeaf): Secret => this.#ifKnown(operation, leaf) ?? new Secret(null, leaf.expression)
}

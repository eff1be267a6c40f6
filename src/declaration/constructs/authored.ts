/** How a kind's spec looks to somebody who writes a stack: the API's own fields, each of which may be an expression. */
import {
  type IResolvable,
  type ITerraformDependable,
  type ITerraformIterator,
  type TerraformCount,
  type TerraformResourceLifecycle,
  Token,
} from 'cdktf'
import type {z} from 'zod'
import type {Kind} from '../../engine/model/kind.ts'

/**
 * A value or an expression in its place. cdktf's tokens for text and numbers are strings and numbers themselves; all
 * others (booleans, `Fn.*`, `variable.value`) are `IResolvable`. A field that takes certain words takes these and
 * `IResolvable`: `variable.value`, or `unchecked(variable.stringValue)`.
 */
export type Authored<T> = unknown extends T
  ? unknown
  : T extends string
    ? T | (string extends T ? never : IResolvable)
    : T extends number | undefined
      ? T
      : T extends boolean
        ? T | IResolvable
        : T extends readonly (infer Item)[]
          ? readonly Authored<Item>[] | IResolvable
          : T extends object
            ? AuthoredFields<T> | IResolvable
            : T

/** Without the index signature of kinds that let unknown fields pass: it would let every misspelled one pass too. */
export type AuthoredFields<T> = {[Field in keyof T as string extends Field ? never : Field]: Authored<T[Field]>}

/** The fields a stack may declare for a kind, without the parent; a kind of which no field is known takes any. */
export type SpecOf<K extends Pick<Kind, 'spec'>> = keyof AuthoredFields<z.input<K['spec']>> extends never
  ? {[field: string]: unknown}
  : AuthoredFields<z.input<K['spec']>>

declare const UNLISTED: unique symbol

/** Fields that the types do not know; see `unlisted`. */
export interface Unlisted {
  readonly [UNLISTED]: true
}

/**
 * Fields that the API has and svcctl does not list, at any depth. They reach the API as they are; a misspelled one is
 * found by `svcctl validate` when it is almost one that is known.
 *
 * ```ts
 * new Subscription(this, 'shop', {name: 'shop', ...unlisted({publicEndpointAccess: false})})
 * ```
 */
export function unlisted(fields: Readonly<Record<string, unknown>>): Unlisted
export function unlisted(fields: object): object {
  return fields
}

/**
 * A text that the compiler cannot know, for a field that takes certain words: a token of text, or what the environment
 * says. `svcctl validate` and `plan` check it.
 *
 * ```ts
 * dataPersistence: unchecked(process.env.PERSISTENCE ?? 'none')
 * ```
 */
export const unchecked = (text: string): IResolvable => Token.asAny(text)

/** A collection whose undeclared objects are deleted, by the policy's word. */
export type ExclusiveCollection<K> = K extends {readonly exclusive: infer Collections} ? keyof Collections & string : never

/** What is svcctl's and not the API's. */
export interface PolicyOptions {
  /** When the declaration is removed: `delete` the object (default), or leave it alone and forget it. */
  readonly removalPolicy?: RemovalPolicy
  /** JSON pointers of single fields that are sent on create and then left alone: `['/memoryLimitInGb']`. */
  readonly ignoreChanges?: readonly FieldPointer[]
}

export type RemovalPolicy = 'delete' | 'retain'
export type FieldPointer = `/${string}`

/** cdktf's own options for any resource. */
export interface ResourceOptions {
  /** Objects that must be there first, beyond those the fields refer to. */
  readonly dependsOn?: ITerraformDependable[]
  /** One object for each item of a map or a set; refer to one of them with `.instance(key)`. */
  readonly forEach?: ITerraformIterator
  /** So many alike; refer to one of them with `.instance(index)`. */
  readonly count?: number | TerraformCount
  /** `preventDestroy`, `ignoreChanges` (`'all'` for the whole object), `createBeforeDestroy`, … */
  readonly lifecycle?: TerraformResourceLifecycle
}

/** How a kind's spec looks to somebody who writes a stack: the API's own fields, each of which may be an expression. */
import type {IResolvable, ITerraformDependable, ITerraformIterator, TerraformCount, TerraformResourceLifecycle} from 'cdktf'
import type {z} from 'zod'
import type {Kind} from '../../engine/kind.ts'

/**
 * A value or an expression in its place. cdktf's tokens for text and numbers are strings and numbers themselves; all
 * others (booleans, `Fn.*`, `variable.value`) are `IResolvable`.
 */
export type Authored<T> = unknown extends T
  ? unknown
  : T extends string | number | undefined
    ? T
    : T extends boolean
      ? T | IResolvable
      : T extends readonly (infer Item)[]
        ? readonly Authored<Item>[] | IResolvable
        : T extends object
          ? AuthoredFields<T> | IResolvable
          : T

export type AuthoredFields<T> = {[Field in keyof T]: Authored<T[Field]>}

/** The fields a stack may declare for a kind, without the parent. */
export type SpecOf<K extends Pick<Kind, 'spec'>> = AuthoredFields<z.input<K['spec']>>

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

/** What the names of an expression mean, as given by whoever evaluates it. */
import {ExpressionError} from './values/errors.ts'
import type {Node} from './values/expression.ts'
import type {OpenValue} from './values/open-value.ts'

export type Meaning = OpenValue | Namespace

/** What a namespace holds when it can be gone through: the instances of an object. */
export interface Members {
  /** By index, or by key. */
  readonly type: 'list' | 'map'
  readonly items: ReadonlyMap<string | number, Meaning>
}

/** Something with parts that is no value by itself: all variables, all objects, one object. */
export abstract class Namespace {
  /** For messages: `null_resource.cache`. */
  abstract readonly what: string
  /** What there is to go through; none for all variables, or for one object. */
  readonly members: Members | undefined = undefined
  abstract get(key: string | number, at: number): Meaning

  /** The value when no part is named. */
  whole(at: number): OpenValue {
    throw new ExpressionError(`${this.what} is not a value by itself`, at, `Name one of its parts: ${this.what}.<name>.`)
  }
}

type Get = (name: string, at: number) => Meaning

/** A namespace whose parts a function gives. */
export const group = (what: string, get: Get, members?: Members): Namespace => new Group(what, get, members)

class Group extends Namespace {
  readonly what: string
  override readonly members: Members | undefined
  readonly #get: Get

  constructor(what: string, get: Get, members: Members | undefined) {
    super()
    this.what = what
    this.members = members
    this.#get = get
  }

  get(key: string | number, at: number): Meaning {
    return this.#get(String(key), at)
  }
}

export interface Names {
  /** The meaning of a traversal's first word. @throws ExpressionError */
  root(name: string, at: number): Meaning
  /** What `sensitive(var.x)` is: the variable's value, secret, and still spelled as the variable. */
  secretVariable?(name: string, at: number): OpenValue
  /** Functions beyond those of stacks. */
  readonly functions?: Readonly<Record<string, (args: readonly Node[], names: Names, at: number) => OpenValue>>
  /** How many `for` expressions stand around. */
  readonly depth?: number
}

/** The same names and some more, as inside a `for` expression. */
export function withNames(names: Names, more: ReadonlyMap<string, Meaning>): Names {
  const {secretVariable, functions, depth = 0} = names
  return {
    root: (name, at) => {
      const bound = more.get(name)
      return bound === undefined ? names.root(name, at) : bound
    },
    ...(secretVariable && !more.has('var') ? {secretVariable: secretVariable.bind(names)} : {}),
    ...(functions ? {functions} : {}),
    depth: depth + 1,
  }
}

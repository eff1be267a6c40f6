/**
 * Keeps cdktf from searching for tokens where there are none.
 *
 * cdktf resolves every element three times (once to prepare, once alone, once with its stack), and each time looks with
 * three regular expressions into every key and every text below it. At 10 000 objects that is most of a synthesis. A
 * token's post processor is the one way past it: what it returns is taken as it is.
 */
import {type IResolvable, type IResolveContext, Token} from 'cdktf'

/** An object without tokens, through two resolutions: alone, and with its stack. */
export const finishedObject = (value: object): IResolvable => new Finished(new Finished(value))

/**
 * Texts, most of them without tokens.
 *
 * @param open - the result is a plain object, which the stack may still change; else it is finished for the stack too
 */
export const finishedTexts = (texts: Readonly<Record<string, unknown>>, {open}: {open: boolean}): IResolvable =>
  new FinishedTexts(texts, open)

class Finished implements IResolvable {
  readonly creationStack: string[] = []
  readonly #value: object

  constructor(value: object) {
    this.#value = value
  }

  resolve(context: IResolveContext): undefined {
    context.registerPostProcessor({postProcess: () => this.#value})
  }

  toString(): string {
    return Token.asString(this)
  }
}

class FinishedTexts implements IResolvable {
  readonly creationStack: string[] = []
  readonly #texts: Readonly<Record<string, unknown>>
  readonly #open: boolean

  constructor(texts: Readonly<Record<string, unknown>>, open: boolean) {
    this.#texts = texts
    this.#open = open
  }

  resolve(context: IResolveContext): undefined {
    const resolved: Record<string, unknown> = {}
    for (const [key, text] of Object.entries(this.#texts)) {
      const value = finishedText(text, context)
      if (value !== undefined) resolved[key] = value
    }
    const result = this.#open ? resolved : new Finished(resolved)
    context.registerPostProcessor({postProcess: () => result})
  }

  toString(): string {
    return Token.asString(this)
  }
}

const finishedText = (text: unknown, context: IResolveContext): unknown =>
  typeof text === 'string' && !Token.isUnresolved(text) ? text : context.resolve(text)

/** A resource of which nothing is said but this. */
export interface PlainResource {
  readonly type: string
  readonly name: string
  readonly dependsOn: readonly string[] | undefined
  /** The triggers in which tokens are. */
  readonly expressions: Readonly<Record<string, unknown>>
  /** All of them; asked for when they are written. */
  readonly triggers: () => Readonly<Record<string, unknown>>
  /** What stands under `//`, without tokens. */
  readonly metadata: () => Readonly<Record<string, unknown>>
  /** As cdktf renders it, for those who look into it. */
  readonly elaborate: () => unknown
}

/**
 * A resource that writes itself. While cdktf prepares, which is to find references to other stacks, only what has tokens is
 * shown to it; after that it gets the resource as it is, and copies nothing of it.
 */
export class PlainRendering implements IResolvable {
  readonly creationStack: string[] = []
  readonly #resource: PlainResource

  constructor(resource: PlainResource) {
    this.#resource = resource
  }

  get resource(): unknown {
    const rendered = this.#resource.elaborate()
    return typeof rendered === 'object' && rendered !== null && 'resource' in rendered ? rendered.resource : undefined
  }

  resolve(context: IResolveContext): undefined {
    const {type, name, dependsOn, expressions, triggers, metadata} = this.#resource
    const after: unknown = dependsOn === undefined ? undefined : context.resolve(dependsOn)
    if (context.preparing) {
      for (const expression of Object.values(expressions)) context.resolve(expression)
      return
    }
    const texts: Record<string, unknown> = {}
    for (const [key, text] of Object.entries(triggers())) {
      const value = finishedText(text, context)
      if (value !== undefined) texts[key] = value
    }
    const rendered = {triggers: texts, ...(after === undefined ? {} : {depends_on: after}), '//': metadata()}
    const result = {resource: {[type]: {[name]: new Finished(rendered)}}}
    context.registerPostProcessor({postProcess: () => result})
  }

  toString(): string {
    return Token.asString(this)
  }
}

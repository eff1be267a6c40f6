/** Stacks in a line: `{cache: ['cloud.database', {name: 'cache'}, {'spec/subscription': '${…}'}]}` read with the real kinds. */
import {kinds} from '../../../src/backends/kinds.ts'
import type {Json, JsonObject} from '../../../src/base/json.ts'
import {stackDocument} from '../../../src/declaration/files/stack-document.ts'
import {DeclarationError} from '../../../src/declaration/language/values/errors.ts'
import {readStacks} from '../../../src/declaration/read/read-stacks.ts'
import {type GivenVariables, givenValues} from '../../../src/declaration/read/variables.ts'
import type {Declaration, StackDeclarations} from '../../../src/engine/model/declaration.ts'

export type ObjectText = readonly [kind: string, spec: Json, triggers?: JsonObject, more?: JsonObject]
export type StackText = {readonly objects?: Readonly<Record<string, ObjectText>>} & {readonly [block: string]: unknown}

export interface ReadTextOptions {
  readonly mode?: 'plan' | 'validate'
  readonly selected?: readonly string[]
  readonly variables?: Partial<GivenVariables>
}

export const stackJson = ({objects = {}, ...blocks}: StackText): string =>
  JSON.stringify(
    {
      resource: {
        null_resource: Object.fromEntries(
          Object.entries(objects).map(([name, [kind, spec, triggers, more]]) => [
            name,
            {triggers: {kind, spec: typeof spec === 'string' ? spec : JSON.stringify(spec), ...triggers}, ...more},
          ]),
        ),
      },
      ...blocks,
    },
    null,
    2,
  )

/** Reads stacks by name, all selected unless told otherwise. */
export function readAll(stacks: Readonly<Record<string, StackText>>, {mode = 'plan', selected, variables = {}}: ReadTextOptions = {}) {
  const documents = Object.entries(stacks).map(([name, text]) => {
    const shown = `${name}/cdk.tf.json`
    return stackDocument(name, undefined, [{name: 'cdk.tf.json', shown, text: stackJson(text)}])
  })
  const given = givenValues({environment: {}, files: [], commandLine: [], ...variables})
  return readStacks({documents, kinds, given, mode, selected: new Set(selected ?? Object.keys(stacks))})
}

/** Reads one stack called `shop`. */
export function read(text: StackText, options?: ReadTextOptions): StackDeclarations {
  const [stack] = readAll({shop: text}, options).stacks
  if (stack === undefined) throw new Error('no stack')
  return stack
}

export const declarationOf = ({declarations}: StackDeclarations, name: string): Declaration => {
  const found = declarations.find(it => it.address === `null_resource.${name}`)
  if (found === undefined) throw new Error(`no ${name} among ${declarations.map(it => it.address).join(', ')}`)
  return found
}

/** What reading says is wrong; none when nothing is. */
export function problemsOf(run: () => unknown) {
  try {
    run()
  } catch (error) {
    if (error instanceof DeclarationError) return error.problems ?? []
    throw error
  }
  return []
}

export const messagesOf = (run: () => unknown): readonly string[] =>
  problemsOf(run).map(({address, path, message}) => `${address ?? ''}${path ? ` ${path}` : ''}: ${message}`)

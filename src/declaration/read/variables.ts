/**
 * Values for the variables of stacks, by Terraform's precedence: defaults, `TF_VAR_*`, `terraform.tfvars`,
 * `*.auto.tfvars` in the order of their names, those of one stack (`<stack>.auto.tfvars`), then `--var` and `--var-file`
 * as they stand on the command line, for all stacks or for one.
 */

import type {Problem} from '../../base/errors.ts'
import {isJsonObject, type Json} from '../../base/json.ts'
import {nearest} from '../../base/nearest.ts'
import {type Block, type StackDocument, sourceField} from '../files/stack-document.ts'
import {CHECK_VARIABLE} from '../language/check-variable.ts'
import {evaluateNode} from '../language/evaluate-expression.ts'
import {parseExpression} from '../language/expression-parser.ts'
import {CORRECT_STACKS, ExpressionError, SET_VARIABLES, VariableError} from '../language/values/errors.ts'
import {opensIn} from '../language/values/open-value.ts'
import {convert, formatType, isText, parseType, TypeMismatch, type VariableType} from '../language/variable-type.ts'

/** A value from outside, not yet of any type. */
export interface GivenValue {
  /** For messages: `TF_VAR_size`, `--var`, a file's name. */
  readonly from: string
  readonly value: {readonly text: string} | {readonly json: Json}
  /** An error when no stack declares the variable (`--var`), or a warning (files), or nothing (the environment, which all share). */
  readonly undeclared: 'error' | 'warning' | 'ignore'
}

/** A file of values: `terraform.tfvars.json`, `--var-file`. */
export interface ValuesFile {
  readonly name: string
  /** The only stack it is for. */
  readonly stack?: string | undefined
  readonly values: {readonly [name: string]: Json}
}

export type CommandLineValue = {readonly type: 'var'; readonly text: string} | {readonly type: 'file'; readonly file: ValuesFile}

export interface GivenVariables {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** `terraform.tfvars.json`, then `*.auto.tfvars.json` in the order of their names. */
  readonly files: readonly ValuesFile[]
  /** `--var` and `--var-file` in the order they were given. */
  readonly commandLine: readonly CommandLineValue[]
}

export interface VariableValue {
  readonly type: VariableType
  /** Absent: nobody gave one. */
  readonly value?: Json
  readonly sensitive: boolean
  /** It stands in the stack itself, so a saved plan without the stack cannot ask for it again. */
  readonly fromStack: boolean
  /** Of `secret(…, {version})`. */
  readonly version: string | undefined
}

export type Variables = ReadonlyMap<string, VariableValue>

interface Given {
  readonly name: string
  readonly value: GivenValue
  /** The only stack it is for. */
  readonly stack: string | undefined
}

/** All values from outside, in the order in which the later one counts. */
export class GivenValues {
  readonly all: readonly Given[]
  readonly #of = new Map<string, ReadonlyMap<string, GivenValue>>()

  constructor(all: readonly Given[]) {
    this.all = all
  }

  /** Those a stack may take, by name. */
  of(stack: string): ReadonlyMap<string, GivenValue> {
    const known = this.#of.get(stack)
    if (known) return known
    const own = new Map(this.all.filter(it => it.stack === undefined || it.stack === stack).map(it => [it.name, it.value]))
    this.#of.set(stack, own)
    return own
  }
}

/** @throws VariableError for a `--var` that is not NAME=VALUE or STACK:NAME=VALUE */
export function givenValues({environment, files, commandLine}: GivenVariables): GivenValues {
  const fromEnvironment = Object.entries(environment).flatMap(([name, text]): Given[] => {
    if (!name.startsWith('TF_VAR_') || text === undefined) return []
    return [{name: name.slice('TF_VAR_'.length), stack: undefined, value: {from: name, value: {text}, undeclared: 'ignore'}}]
  })
  const fromFile = ({name: from, stack, values}: ValuesFile): Given[] =>
    Object.entries(values).flatMap(([name, json]) =>
      name === '//' ? [] : [{name, stack, value: {from, value: {json}, undeclared: 'warning' as const}}],
    )
  // What is for one stack says more than what is for all.
  const general = files.filter(it => it.stack === undefined)
  const special = files.filter(it => it.stack !== undefined)
  const typed = commandLine.flatMap(it => (it.type === 'file' ? fromFile(it.file) : [typedOne(it.text)]))
  return new GivenValues([...fromEnvironment, ...[...general, ...special].flatMap(fromFile), ...typed])
}

function typedOne(text: string): Given {
  const at = text.indexOf('=')
  const [, stack, name = ''] = /^(?:([^:]+):)?([^:]+)$/.exec(text.slice(0, Math.max(0, at)).trim()) ?? []
  if (at < 1 || name === '')
    throw new VariableError([{message: '--var needs NAME=VALUE'}], ['Write --var name=value, or --var stack:name=value for one stack.'])
  return {name, stack, value: {from: '--var', value: {text: text.slice(at + 1)}, undeclared: 'error'}}
}

/**
 * A value from outside, brought to the type the stack declares.
 * Text for a list, map or object is an expression as Terraform reads it there; JSON is one.
 *
 * @throws TypeMismatch or ExpressionError; neither quotes the value
 */
export function typedValue({value}: GivenValue, type: VariableType | undefined): Json {
  if (!('text' in value)) return convert(value.json, type ?? {type: 'any'})
  if (type === undefined || isText(type)) return convert(value.text, type ?? {type: 'string'})
  return convert(literalValue(value.text), type)
}

/** What `[1, "a"]` or `{"a": 1}` says, in JSON or in Terraform's own syntax. @throws ExpressionError when it reads anything */
export function literalValue(text: string): Json {
  const noNames = {
    root: (_: string, at: number): never => {
      throw new ExpressionError('a value from outside may refer to nothing', at, 'Put text in quotes.')
    },
  }
  const value = evaluateNode(parseExpression(text), noNames)
  if (opensIn(value).length > 0) throw new ExpressionError('a value from outside is a literal', 0)
  return value as Json
}

export interface GatheredVariables {
  readonly byStack: ReadonlyMap<string, Variables>
  readonly problems: readonly Problem[]
  /** What to do about them. */
  readonly remedies: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * The variables of every stack with their values.
 *
 * @param mode - `plan` refuses a variable without a value; `validate` leaves it unknown
 * @param selected - stacks that must be complete; the others are only looked at
 */
export function gatherVariables(
  documents: readonly StackDocument[],
  given: GivenValues,
  mode: 'plan' | 'validate',
  selected: ReadonlySet<string>,
): GatheredVariables {
  const problems: Problem[] = []
  const remedies = new Set<string>()
  const byStack = new Map<string, Variables>()
  for (const document of documents) {
    const variables = new Map<string, VariableValue>()
    byStack.set(document.name, variables)
    for (const [name, block] of document.variables) {
      if (name === CHECK_VARIABLE) continue
      const problem = (message: string): void => {
        problems.push({address: `${document.name}:var.${name}`, message, ...sourceField(block.source)})
      }
      const version = block.body.sensitive === true ? versionOf(document, name) : undefined
      const from = given.of(document.name).get(name)
      const value = variableValue(block, name, from, version, message => {
        remedies.add(
          from === undefined ? CORRECT_STACKS : `Correct the value where it is given (${from.from}), then run the command again.`,
        )
        problem(message)
      })
      if (value === undefined) continue
      variables.set(name, value)
      // One with a version is asked for when something is to send it.
      if (value.value === undefined && value.version === undefined && mode === 'plan' && selected.has(document.name)) {
        remedies.add(SET_VARIABLES)
        problem(
          `the variable ${name} has no value: set TF_VAR_${name}, or give --var ${name}=…, or write it into terraform.tfvars.json (${document.name}.auto.tfvars.json for this stack alone)`,
        )
      }
    }
  }
  const unknown = undeclared(documents, given)
  if (unknown.length > 0) remedies.add('Correct that --var, or leave it out.')
  return {byStack, problems: [...problems, ...unknown], remedies: [...remedies], warnings: undeclaredInFiles(documents, given)}
}

function variableValue(
  {body}: Block,
  name: string,
  given: GivenValue | undefined,
  version: string | undefined,
  problem: (message: string) => void,
): VariableValue | undefined {
  const sensitive = body.sensitive === true
  let type: VariableType = {type: 'any'}
  try {
    if (typeof body.type === 'string') type = parseType(body.type)
    if (body.validation !== undefined) {
      problem("svcctl does not evaluate validation of a variable: check the value in the stack's own code")
      return undefined
    }
    const declared = typeof body.type === 'string' ? type : undefined
    const base = {type, sensitive, version}
    if (given) return {...base, value: typedValue(given, declared), fromStack: false}
    if (body.default === undefined) return {...base, fromStack: true}
    return {...base, value: convert(body.default, type), fromStack: true}
  } catch (error) {
    if (!(error instanceof TypeMismatch || error instanceof ExpressionError)) throw error
    problem(
      `${given ? `the value from ${given.from}` : 'its declaration'} does not fit: ${error.message} (variable ${name}, type ${formatType(type)})`,
    )
    return undefined
  }
}

function versionOf({metadata}: StackDocument, variable: string): string | undefined {
  const secrets = isJsonObject(metadata.secrets) ? metadata.secrets : {}
  const entry = Object.hasOwn(secrets, variable) ? secrets[variable] : undefined
  const version = isJsonObject(entry) ? entry.version : undefined
  return typeof version === 'string' || typeof version === 'number' ? String(version) : undefined
}

interface Undeclared {
  readonly given: Given
  /** What it could be for: the variables of its stack, or of all. */
  readonly known: ReadonlySet<string>
}

/** What is given and declared nowhere it is given for. */
function notDeclared(documents: readonly StackDocument[], given: GivenValues, how: GivenValue['undeclared']): readonly Undeclared[] {
  return given.all
    .filter(({value}) => value.undeclared === how)
    .map(it => ({given: it, known: namesIn(documentsOf(documents, it))}))
    .filter(({given: {name}, known}) => !known.has(name))
}

/** Our own one is nobody's to give. */
const namesIn = (documents: readonly StackDocument[]): ReadonlySet<string> =>
  new Set(documents.flatMap(it => [...it.variables.keys()]).filter(name => name !== CHECK_VARIABLE))

const documentsOf = (documents: readonly StackDocument[], {stack}: Given): readonly StackDocument[] =>
  stack === undefined ? documents : documents.filter(document => document.name === stack)

const nobody = ({stack}: Given): string => (stack === undefined ? 'which no stack declares' : `which stack ${stack} does not declare`)

function undeclared(documents: readonly StackDocument[], given: GivenValues): readonly Problem[] {
  return notDeclared(documents, given, 'error').map(({given: it, known}) => {
    if (it.stack !== undefined && documentsOf(documents, it).length === 0) {
      return {
        message: `${it.value.from} gives ${it.name} to stack ${it.stack}, and the stacks are ${documents.map(({name}) => name).join(', ')}`,
      }
    }
    const near = nearest(it.name, known)
    const list = known.size === 0 ? 'the stacks declare no variables' : `the variables are ${[...known].sort().join(', ')}`
    return {message: `${it.value.from} gives ${it.name}, ${nobody(it)}: ${near ? `did you mean ${near}? ` : ''}${list}`}
  })
}

/** A file that other tools read too may have a few; more are one warning, whatever a pull request made of it. */
const MOST_WARNINGS = 20

function undeclaredInFiles(documents: readonly StackDocument[], given: GivenValues): readonly string[] {
  const found = notDeclared(documents, given, 'warning')
  const more = found.length - MOST_WARNINGS
  return [
    ...found.slice(0, MOST_WARNINGS).map(({given: it}) => `${it.value.from} gives ${it.name}, ${nobody(it)}`),
    ...(more > 0 ? [`files of variables give ${more} more that no stack declares`] : []),
  ]
}

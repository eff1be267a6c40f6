/** Files of variable values, found where Terraform looks for them. */

import {readdir} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {parseAnyJson} from '../../base/bounded-json.ts'
import {isJsonObject, type Json} from '../../base/json.ts'
import {JsonPlaceError, lineFinder, positionsIn} from '../files/json-positions.ts'
import {OF_VARIABLES, ReadAllowance} from '../files/project-text.ts'
import {ExpressionError, StackFileError} from '../language/values/errors.ts'
import {type CommandLineValue, literalValue, type ValuesFile} from './variables.ts'

export type VariableOption = {readonly type: 'var'; readonly text: string} | {readonly type: 'file'; readonly path: string}

const AUTO = /\.auto\.tfvars(?:\.json)?$/

/**
 * `terraform.tfvars`, `terraform.tfvars.json`, then `*.auto.tfvars` and `*.auto.tfvars.json` in the order of their names.
 *
 * @param stacks - of the app: a file that is called as one of them is for that one alone
 */
export async function readVariableFiles(folder: string, stacks: readonly string[]): Promise<readonly ValuesFile[]> {
  const names = await readdir(folder).catch((): string[] => [])
  const found = ['terraform.tfvars', 'terraform.tfvars.json'].filter(name => names.includes(name))
  const auto = names.filter(name => AUTO.test(name)).sort()
  const allowance = new ReadAllowance(OF_VARIABLES)
  return Promise.all(
    [...found, ...auto].map(async name => {
      const stack = stacks.find(it => AUTO.test(name) && name.replace(AUTO, '') === it)
      return {...(await readValues(allowance, join(folder, name), name)), stack}
    }),
  )
}

const CHECK = 'Check the path after --var-file.'

/** `--var` and `--var-file` as they stand on the command line; `--var-file STACK=FILE` is for one stack. @throws StackFileError */
export const readVariableOptions = (
  options: readonly VariableOption[],
  cwd: string,
  stacks: readonly string[],
  allowance = new ReadAllowance(OF_VARIABLES),
): Promise<readonly CommandLineValue[]> =>
  Promise.all(
    options.map(async (it): Promise<CommandLineValue> => {
      if (it.type === 'var') return it
      const [, stack, path = ''] = /^([^=]+)=([\s\S]+)$/.exec(it.path) ?? []
      if (stack !== undefined && stacks.includes(stack))
        return {type: 'file', file: {...(await readValues(allowance, resolve(cwd, path), path, CHECK)), stack}}
      const advice =
        stack === undefined ? CHECK : `There is no file of that name, and no stack "${stack}": the stacks are ${stacks.join(', ')}.`
      return {type: 'file', file: await readValues(allowance, resolve(cwd, it.path), it.path, advice)}
    }),
  )

/** @param advice - where a person named the file: what to do when it is not there */
async function readValues(allowance: ReadAllowance, path: string, name: string, advice?: string): Promise<ValuesFile> {
  let text: string
  try {
    text = await (advice === undefined ? allowance.read(path, name) : allowance.readNamed(path, name))
  } catch (error) {
    if (error instanceof StackFileError) throw error
    throw new StackFileError(name, 'cannot be read', advice ?? 'Make it readable, or take it away.', error)
  }
  const values = path.endsWith('.json') || text.trimStart().startsWith('{') ? jsonValues(text, name) : hclValues(text, name)
  if (!isJsonObject(values)) throw new StackFileError(name, 'must hold an object of names and values', 'Write {"name": "value"} into it.')
  return {name, values}
}

function jsonValues(text: string, name: string): Json {
  try {
    positionsIn(text, 0)
  } catch (error) {
    if (!(error instanceof JsonPlaceError)) throw error
    throw new StackFileError(`${name}:${lineFinder(text)(error.offset)}`, error.message, 'Correct the JSON in that line.')
  }
  return parseAnyJson(text) as Json
}

/** `name = value` lines are the items of an object. */
function hclValues(text: string, name: string): Json {
  try {
    return literalValue(`{\n${text}\n}`)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    const line = text.slice(0, Math.max(0, error.at - 2)).split('\n').length
    throw new StackFileError(
      `${name}:${line}`,
      'cannot be read as "name = value" lines',
      'Write literal values only, or use the JSON form (.tfvars.json).',
    )
  }
}

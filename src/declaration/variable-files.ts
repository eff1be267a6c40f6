/** Files of variable values, found where Terraform looks for them. */
import {readdir, readFile} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {isJsonObject, type Json} from '../base/json.ts'
import {ExpressionError, StackFileError} from './errors.ts'
import {JsonPlaceError, lineFinder, positionsIn} from './json-positions.ts'
import {literalValue, type ValuesFile} from './variables.ts'

/** `terraform.tfvars`, `terraform.tfvars.json`, then `*.auto.tfvars` and `*.auto.tfvars.json` in the order of their names. */
export async function readVariableFiles(folder: string): Promise<readonly ValuesFile[]> {
  const names = await readdir(folder).catch((): string[] => [])
  const found = ['terraform.tfvars', 'terraform.tfvars.json'].filter(name => names.includes(name))
  const auto = names.filter(name => /\.auto\.tfvars(?:\.json)?$/.test(name)).sort()
  return Promise.all([...found, ...auto].map(name => readValues(join(folder, name), name)))
}

/** `--var-file`. @throws StackFileError */
export const readVariableFile = (cwd: string, path: string): Promise<ValuesFile> => readValues(resolve(cwd, path), path)

async function readValues(path: string, name: string): Promise<ValuesFile> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new StackFileError(name, 'cannot be read', 'Check the path after --var-file.', error)
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
    // Its message quotes the text, which may be secret.
    throw new StackFileError(`${name}:${lineFinder(text)(error.offset)}`, 'is not JSON', 'Correct the JSON in that line.')
  }
  return JSON.parse(text) as Json
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

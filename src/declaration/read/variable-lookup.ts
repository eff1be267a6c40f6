/** Values of variables from outside the stacks, for what a plan left open. */
import type {Json} from '../../base/json.ts'
import type {LoadOptions} from './load.ts'
import {readVariableFiles, readVariableOptions} from './variable-files.ts'
import {type GivenValue, givenValues} from './variables.ts'

export type VariableLookup = (stack: string, name: string) => Json | undefined

/**
 * The same sources as when a plan is made: `TF_VAR_*`, the values files, `--var`, `--var-file`.
 *
 * @param stacks - all of the app: what is for one of them is for no other
 * @throws VariableError
 */
export async function variableLookup(
  {cwd, environment, variables = []}: Pick<LoadOptions, 'cwd' | 'environment' | 'variables'>,
  stacks: readonly string[],
): Promise<VariableLookup> {
  const given = givenValues({
    environment,
    files: await readVariableFiles(cwd, stacks),
    commandLine: await readVariableOptions(variables, cwd, stacks),
  })
  return (stack, name) => plain(given.of(stack).get(name))
}

const plain = (given: GivenValue | undefined): Json | undefined => given && ('text' in given.value ? given.value.text : given.value.json)

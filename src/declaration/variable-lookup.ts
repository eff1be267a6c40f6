/** Values of variables from outside the stacks, for what a plan left open. */
import type {Json} from '../base/json.ts'
import type {LoadOptions, VariableOption} from './load.ts'
import {readVariableFile, readVariableFiles} from './variable-files.ts'
import {type GivenValue, givenValues} from './variables.ts'

export type VariableLookup = (stack: string, name: string) => Json | undefined

/** The same sources as when a plan is made: `TF_VAR_*`, the values files, `--var`, `--var-file`. @throws VariableError */
export async function variableLookup({
  cwd,
  environment,
  variables = [],
}: Pick<LoadOptions, 'cwd' | 'environment' | 'variables'>): Promise<VariableLookup> {
  const given = givenValues({
    environment,
    files: await readVariableFiles(cwd),
    commandLine: await Promise.all(
      variables.map(async (it: VariableOption) =>
        it.type === 'var' ? it : {type: 'file' as const, file: await readVariableFile(cwd, it.path)},
      ),
    ),
  })
  return (_, name) => plain(given.get(name))
}

const plain = (given: GivenValue | undefined): Json | undefined => given && ('text' in given.value ? given.value.text : given.value.json)

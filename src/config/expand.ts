/**
 * `${VAR}` and `${VAR:-default}` in text values of the configuration file (wire facts, "Configuration facts").
 * Expansion comes after the TOML is parsed, so that no variable can change the file's shape. A bare `$VAR` stays.
 */
import {AppError, EXIT} from '../base/errors.ts'
import type {ProcessVariables} from '../base/process-variables.ts'

/** A reference to a variable that is not set and has no default. Names the variable and the key, never a value. */
export class UnsetVariableError extends AppError {
  constructor(variable: string, key: string, file: string) {
    super(`${key} in ${file} needs the environment variable ${variable}, which is not set`, {
      code: 'E_CONFIG_UNSET_VARIABLE',
      exit: EXIT.usage,
      suggestions: [`Set it: export ${variable}=…`, `Or give a default in the file: \${${variable}:-…}`],
    })
  }
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

export const hasReference = (text: string): boolean => closed(text).search(REFERENCE) >= 0

/** What may hold references. Behind the last brace there is none, and each beginning of one would be looked through to the end. */
const closed = (text: string): string => text.slice(0, text.lastIndexOf('}') + 1)

/**
 * A default is used when the variable is unset or empty, as in a shell. What a variable holds is not expanded again.
 * @param key - for the error: `profiles.prod.api_key`
 * @throws UnsetVariableError
 */
export function expandVariables(text: string, variables: ProcessVariables, key: string, file: string): string {
  const head = closed(text)
  const expanded = head.replace(REFERENCE, (_, name: string, otherwise: string | undefined) => {
    const value = variables[name]
    if (otherwise !== undefined) return value || otherwise
    if (value === undefined) throw new UnsetVariableError(name, key, file)
    return value
  })
  return `${expanded}${text.slice(head.length)}`
}

/** The file of `svcctl simulator --config`. */
import type {z} from 'zod'
import {AppError, EXIT, type Problem} from '../base/errors.ts'
import {judge} from '../base/judge.ts'
import {formatPointer} from '../base/pointer.ts'
import {readWholeFileSync} from '../base/whole-file.ts'
import {type SimulatorConfigInput, simulatorConfig} from './base/config.ts'

/** The simulator's configuration file cannot be used. */
export class SimulatorConfigError extends AppError {
  constructor(path: string, problems: readonly Problem[], cause?: unknown) {
    super(
      `the simulator's configuration ${path} cannot be used: ${problems.map(({path: at, message}) => (at === undefined ? message : `${at || 'the document'}: ${message}`)).join('; ')}`,
      {
        code: 'E_SIMULATOR_CONFIG',
        exit: EXIT.usage,
        suggestions: ['Start the simulator without --config and read GET /config at its control address: every field with its default.'],
        problems,
        cause,
      },
    )
  }
}

/** @throws SimulatorConfigError with every problem of the file */
export function readSimulatorConfig(path: string): SimulatorConfigInput {
  let given: unknown
  try {
    given = JSON.parse(readWholeFileSync(path).toString())
  } catch (error) {
    const why = error instanceof SyntaxError ? `it is not valid JSON (${error.message})` : 'it cannot be read'
    throw new SimulatorConfigError(path, [{message: why, source: path}], error)
  }
  const checked = judge(simulatorConfig, given)
  // What was given is handed on, not what was made of it: a preset lies below the fields that were written.
  if (checked.success) return given as SimulatorConfigInput
  throw new SimulatorConfigError(path, problemsOf(checked.error, path), checked.error)
}

const problemsOf = (error: z.ZodError, source: string): Problem[] =>
  error.issues.map(issue => {
    const pointer = formatPointer(issue.path.map(part => (typeof part === 'number' ? part : String(part))))
    return {message: issue.message, path: pointer, source}
  })

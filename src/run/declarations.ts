/** The declarations a command works with, from the app of the stacks or a folder of their files. */
import {kinds} from '../backends/kinds.ts'
import {type LoadedDeclarations, loadDeclarations} from '../declaration/read/load.ts'
import type {VariableOption} from '../declaration/read/variable-files.ts'
import type {StackDeclarations} from '../engine/model/declaration.ts'
import {atStateFile} from '../ledger/open-ledger.ts'
import type {Host} from './host.ts'

export interface StackSource {
  readonly synthDir: string | undefined
  /** `--synth-env` */
  readonly synthEnvironment: readonly string[] | undefined
  readonly stacks: readonly string[] | undefined
  /** `--state` */
  readonly stateFile: string | undefined
  readonly mode: 'plan' | 'validate'
  /** `--var` and `--var-file`, in the order that decides between them. */
  readonly variables: readonly VariableOption[]
  /** Ends the app, which runs in a process group of its own: neither Ctrl-C nor the end of a terminal reaches it. */
  readonly signal: AbortSignal
}

/** Declarations from the app or a folder, their warnings said, their secrets registered. */
export async function readDeclarations(
  host: Host,
  {synthDir, synthEnvironment, stacks, stateFile, mode, variables, signal}: StackSource,
): Promise<LoadedDeclarations> {
  const loaded = await loadDeclarations({
    cwd: host.cwd,
    environment: host.environment.all,
    kinds,
    mode,
    synthDir,
    synthEnvironment,
    onApp: passed => host.environment.forget(passed),
    stacks,
    signal,
    variables,
    onSecret: value => host.redactor.registerValue(value),
    onOutput: text => {
      for (const line of text.trimEnd().split('\n')) host.log.info(line)
    },
  })
  for (const warning of [...loaded.warnings, ...loaded.stacks.flatMap(it => it.warnings.map(text => `${it.name}: ${text}`))])
    host.log.warn(warning)
  return {...loaded, stacks: loaded.stacks.map(it => inStateFile(it, stateFile))}
}

/** @throws StateFileError */
export const inStateFile = (stack: StackDeclarations, file: string | undefined): StackDeclarations =>
  file === undefined ? stack : {...stack, ledger: atStateFile(stack.ledger, stack.name, file)}

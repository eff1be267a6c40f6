/** The declarations a command works with, from the app of the stacks or a folder of their files. */
import {kinds} from '../backends/kinds.ts'
import {type LoadedDeclarations, loadDeclarations} from '../declaration/load.ts'
import type {StackDeclarations} from '../engine/model/declaration.ts'
import {atStateFile} from '../ledger/open-ledger.ts'
import type {Context} from './context.ts'
import {endingOnInterrupt} from './interrupt.ts'
import {variableOptions} from './stack-flags.ts'

export interface StackSource {
  readonly synthDir: string | undefined
  /** `--synth-env` */
  readonly synthEnvironment: readonly string[] | undefined
  readonly stacks: readonly string[] | undefined
  /** `--state` */
  readonly stateFile: string | undefined
  readonly mode: 'plan' | 'validate'
  /** Its last word when it is stopped while the app runs. */
  readonly onStopped: () => void
}

/** Declarations from the app or a folder, their warnings said, their secrets registered. */
export async function readDeclarations(
  context: Context,
  argv: readonly string[],
  {synthDir, synthEnvironment, stacks, stateFile, mode, onStopped}: StackSource,
): Promise<LoadedDeclarations> {
  const loaded = await endingWithUs(onStopped, signal =>
    loadDeclarations({
      cwd: context.cwd,
      environment: context.environment.all,
      kinds,
      mode,
      synthDir,
      synthEnvironment,
      onApp: passed => context.environment.forget(passed),
      stacks,
      signal,
      variables: variableOptions(argv),
      onSecret: value => context.redactor.registerValue(value),
      onOutput: text => {
        for (const line of text.trimEnd().split('\n')) context.log.info(line)
      },
    }),
  )
  for (const warning of [...loaded.warnings, ...loaded.stacks.flatMap(it => it.warnings.map(text => `${it.name}: ${text}`))])
    context.log.warn(warning)
  return {...loaded, stacks: loaded.stacks.map(it => inStateFile(it, stateFile))}
}

/** The app of the stacks runs in a process group of its own, which neither Ctrl-C nor the end of the terminal reaches. */
function endingWithUs<T>(onStopped: () => void, load: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const app = new AbortController()
  const loading = load(app.signal)
  return endingOnInterrupt(
    () => loading,
    async usual => {
      app.abort()
      await loading.catch(() => undefined)
      onStopped()
      return usual
    },
  )
}

/** @throws StateFileError */
export const inStateFile = (stack: StackDeclarations, file: string | undefined): StackDeclarations =>
  file === undefined ? stack : {...stack, ledger: atStateFile(stack.ledger, stack.name, file)}

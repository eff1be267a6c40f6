/** The declarations a command works with, from the app of the stacks or a folder of their files. */
import {existsSync} from 'node:fs'
import {hostname} from 'node:os'
import {join} from 'node:path'
import {kinds} from '../../backends/kinds.ts'
import {holderState} from '../../base/process-lock.ts'
import {type LoadedDeclarations, type LoadOptions, loadDeclarations} from '../../declaration/read/load.ts'
import type {VariableOption} from '../../declaration/read/variable-files.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import {atStateFile} from '../../ledger/backends/open-ledger.ts'
import type {Host} from '../host/host.ts'
import {LastLines} from './last-lines.ts'

export interface StackSource {
  readonly synthDir: string | undefined
  /** `--synth-env` */
  readonly synthEnvironment: readonly string[] | undefined
  readonly stacks: readonly string[] | undefined
  /** `--state` */
  readonly stateFile: string | undefined
  readonly mode: LoadOptions['mode']
  /** `--var` and `--var-file`, in the order that decides between them. */
  readonly variables: readonly VariableOption[]
  /** Ends the app, which runs in a process group of its own: neither Ctrl-C nor the end of a terminal reaches it. */
  readonly signal: AbortSignal
  /** The app is run now. */
  readonly onApp?: (app: string) => void
  /** The app has ended and nothing of it is left: from now on the program only computes. */
  readonly onEvaluate?: () => void
}

/** Declarations from the app or a folder, their warnings said, their secrets registered. */
export async function readDeclarations(
  host: Host,
  {synthDir, synthEnvironment, stacks, stateFile, mode, variables, signal, onApp, onEvaluate}: StackSource,
): Promise<LoadedDeclarations> {
  // What is secret in what the app says is known when its stacks have been read: until then nothing of it is shown.
  const said = new LastLines()
  if (synthDir === undefined) await undoAbsorbs(host)
  const loaded = await loadDeclarations({
    cwd: host.cwd,
    environment: host.environment.all,
    kinds,
    mode,
    synthDir,
    synthEnvironment,
    onApp: (passed, app) => {
      host.environment.forget(passed)
      onApp?.(app)
    },
    holdsSecret: text => host.redactor.value(text) !== text,
    stacks,
    signal,
    variables,
    onSecret: value => host.redactor.registerValue(value),
    onLine: line => said.add(line),
    onEvaluate,
  }).finally(() => {
    for (const line of said.all) host.log.info(line)
  })
  for (const warning of [...loaded.warnings, ...loaded.stacks.flatMap(it => it.warnings.map(text => `${it.name}: ${text}`))])
    host.log.warn(warning)
  return {...loaded, stacks: loaded.stacks.map(it => inStateFile(it, stateFile))}
}

/** A program that a killed absorb has edited, and nobody has proven, is not run: it is put back first. @throws AbsorbFileError */
async function undoAbsorbs({cwd, log}: Host): Promise<void> {
  if (!existsSync(join(cwd, '.svcctl', 'absorb'))) return
  const {undoDeadAbsorbs} = await import('../../absorb/originals.ts')
  undoDeadAbsorbs(cwd, holder => holderState(holder, hostname()), log.warn.bind(log))
}

/** @throws StateFileError */
export const inStateFile = (stack: StackDeclarations, file: string | undefined): StackDeclarations =>
  file === undefined ? stack : {...stack, ledger: atStateFile(stack.ledger, stack.name, file)}

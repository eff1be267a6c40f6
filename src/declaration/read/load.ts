/** The way in: stacks from the app of cdktf.json or from a folder, read, evaluated and checked. */
import {resolve} from 'node:path'
import type {Problem} from '../../base/errors.ts'
import {globPattern} from '../../base/glob.ts'
import type {Json} from '../../base/json.ts'
import {nearest} from '../../base/nearest.ts'
import type {StackDeclarations} from '../../engine/model/declaration.ts'
import type {Kinds} from '../../engine/model/kind.ts'
import {formatSource, sourceField} from '../files/stack-document.ts'
import {type Annotation, type ReadStacks, readStackDocuments} from '../files/stack-files.ts'
import {synthesize} from '../files/synthesize.ts'
import {CORRECT_STACKS, DeclarationError, NoStacksError, UnknownStackError} from '../language/values/errors.ts'
import {readStacks} from './read-stacks.ts'
import type {SecretVariable} from './secret-variables.ts'
import {readVariableFiles, readVariableOptions, type VariableOption} from './variable-files.ts'
import {givenValues} from './variables.ts'

export interface LoadOptions {
  /** Folder of cdktf.json; ledgers lie beside it, and relative paths begin here. */
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly kinds: Kinds
  /** `plan` refuses a variable without a value, `validate` takes it as unknown, `withheld` every secret too. */
  readonly mode: 'plan' | 'validate' | 'withheld'
  /** Read this folder instead of running the app. */
  readonly synthDir?: string | undefined
  /** Variables of the environment that the app gets beside what every program needs; names or globs. */
  readonly synthEnvironment?: readonly string[] | undefined
  /** Told what the app gets and the command that it is, right before it is run. */
  readonly onApp?: ((passed: Readonly<Record<string, string | undefined>>, app: string) => void) | undefined
  /** Names or globs of stacks; none: all. */
  readonly stacks?: readonly string[] | undefined
  /** `--var` and `--var-file` in the order they were given. */
  readonly variables?: readonly VariableOption[] | undefined
  /** Whether a text has a secret in it that the run knows. */
  readonly holdsSecret?: ((text: string) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
  /** Is told every value of the stacks that must not be shown. */
  readonly onSecret?: ((value: Json) => void) | undefined
  /** Told each line that the app writes. No secret of its stacks is known before they are read. */
  readonly onLine?: ((line: string) => void) | undefined
  /** Called when everything is read and evaluating begins, which goes on without a pause. */
  readonly onEvaluate?: (() => void) | undefined
}

export interface LoadedDeclarations {
  /** Those asked for. */
  readonly stacks: readonly StackDeclarations[]
  /** The other stacks of the app: what they declare counts as declared. */
  readonly others: readonly StackDeclarations[]
  /** Annotations, files that were not read, values nobody asked for. Warnings of one stack stand in the stack. */
  readonly warnings: readonly string[]
  /** The sensitive variables of all stacks. */
  readonly secrets: readonly SecretVariable[]
}

/** @throws DeclarationError with every problem; NoStacksError, StackFileError, SynthesisError, UnknownStackError, VariableError */
export async function loadDeclarations(options: LoadOptions): Promise<LoadedDeclarations> {
  const {cwd, environment, kinds, mode, synthDir, signal, onLine, onSecret} = options
  const read = await (synthDir === undefined
    ? synthesize({
        cwd,
        environment,
        named: options.synthEnvironment ?? [],
        onApp: options.onApp,
        holdsSecret: options.holdsSecret,
        ...(signal ? {signal} : {}),
        ...(onLine ? {onLine} : {}),
      })
    : readStackDocuments(synthDir, {cwd}))
  if (read.documents.length === 0) throw new NoStacksError('the app has no stacks', 'Make at least one TerraformStack in it.')
  const names = read.documents.map(document => document.name)
  const selected = selectStacks(names, options.stacks ?? [])
  const given = givenValues({
    environment,
    files: await valuesBeside(read, options),
    commandLine: await readVariableOptions(options.variables ?? [], cwd, names),
  })
  options.onEvaluate?.()
  const refused = read.annotations.filter(it => it.level === 'error').map(annotationProblem)
  const withheld = mode === 'withheld'
  const result = withProblems(refused, () =>
    readStacks({documents: read.documents, kinds, given, mode: withheld ? 'validate' : mode, withheld, selected, onSecret}),
  )
  return {
    stacks: result.stacks.filter(stack => selected.has(stack.name)),
    others: result.stacks.filter(stack => !selected.has(stack.name)),
    warnings: [...read.warnings, ...read.annotations.filter(it => it.level !== 'error').map(annotationText), ...result.warnings],
    secrets: result.secrets,
  }
}

/** Problems of constructs and of what they made are said together. */
function withProblems<T>(problems: readonly Problem[], run: () => T): T {
  try {
    const result = run()
    if (problems.length > 0) throw new DeclarationError(problems)
    return result
  } catch (error) {
    if (error instanceof DeclarationError && problems.length > 0 && error.problems !== problems) {
      throw new DeclarationError([...problems, ...(error.problems ?? [])], {
        remedies: [...new Set([CORRECT_STACKS, ...error.suggestions])],
      })
    }
    throw error
  }
}

const annotationProblem = ({message, source}: Annotation): Problem => ({message, ...sourceField(source)})

const annotationText = ({message, source}: Annotation): string => {
  const place = formatSource(source)
  return place === undefined ? message : `${place}: ${message}`
}

/** Value files of the project, and of a stack written by hand in a folder of its own. */
async function valuesBeside({documents}: ReadStacks, {cwd}: LoadOptions) {
  const [only, ...more] = documents
  const beside = only?.folder !== undefined && more.length === 0 && resolve(only.folder) !== resolve(cwd) ? [only.folder] : []
  const names = documents.map(document => document.name)
  return (await Promise.all([cwd, ...beside].map(folder => readVariableFiles(folder, names)))).flat()
}

/**
 * The stacks that names and globs (`*`, `?`) choose; without any, all.
 * @throws UnknownStackError for one that chooses none
 */
export function selectStacks(known: readonly string[], wanted: readonly string[]): ReadonlySet<string> {
  if (wanted.length === 0) return new Set(known)
  const selected = new Set<string>()
  for (const pattern of wanted) {
    const matches = known.includes(pattern) ? [pattern] : known.filter(name => globPattern(pattern).test(name))
    if (matches.length === 0) throw new UnknownStackError(pattern, known, nearest(pattern, known))
    for (const name of matches) selected.add(name)
  }
  return selected
}

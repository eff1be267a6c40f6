import {AppError, EXIT, type ExitCode} from '../base/errors.ts'
import {asJson} from '../base/json.ts'
import {UsageError} from '../base/usage-error.ts'
import {InterruptedError, onInterrupt} from '../cli/interrupt.ts'
import {bothApisFlags, yesFlag} from '../cli/parse/flags.ts'
import {objectWords} from '../cli/parse/object-words.ts'
import {Args, Flags} from '../cli/parse/oclif.ts'
import {ledgerFlags, stackFlags} from '../cli/parse/stack-flags.ts'
import {variableOptions} from '../cli/parse/variable-options.ts'
import {StackCommand, type StackFlagValues} from '../cli/stack-command.ts'
import type {LoadedDeclarations} from '../declaration/read/load.ts'
import {visible} from '../report/terminal-text.ts'
import type {AbsorbDone, Absorption} from '../run/import/absorb.ts'
import type {Workspace} from '../run/workspace/workspace.ts'

interface AbsorbFlagValues extends StackFlagValues {
  readonly field?: readonly string[] | undefined
  readonly 'dry-run'?: boolean | undefined
  readonly patch?: string | undefined
  readonly yes?: boolean | undefined
  readonly 'lock-timeout'?: number | undefined
}

/** Of standard output a log is kept, and a patch with a part of it hidden would not apply. Nothing was edited. */
class SecretInPatchError extends AppError {
  constructor(files: readonly string[]) {
    super(`the patch of ${files.join(', ')} has a secret in it that stands in clear there, and was not written to standard output`, {
      code: 'E_ABSORB_SECRET',
      exit: EXIT.refused,
      suggestions: [
        'Write it to a file that only you can read: --patch FILE. Or leave --patch out.',
        'Better: declare the secret as a sensitive variable.',
      ],
    })
  }
}

export default class AbsorbCommand extends StackCommand {
  static override summary = 'write changes that somebody made outside into the code'
  static override description =
    'Replaces literals in the code with the live values: in the arguments of the construct, or in the row of the table it was made from. Nothing else in the file changes. Values that are not literals are listed with file, line and column, for you to edit. Then the edited program is run and planned; if that plan would change anything else, the files are restored.\n'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> null_resource.cache --field /memoryLimitInGb --yes',
    '<%= config.bin %> <%= command.id %> --dry-run --patch drift.patch',
  ]
  static override strict = false
  static override args = {
    address: Args.string({description: 'objects: address, construct path, name, or a pattern of these; none: all', ignoreStdin: true}),
  }
  static override flags = {
    ...bothApisFlags,
    ...stackFlags,
    ...ledgerFlags,
    ...yesFlag,
    field: Flags.string({
      summary: 'only this field and what is below it, as a JSON pointer',
      helpValue: '<pointer>',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'dry-run': Flags.boolean({summary: 'show what would be written, and write nothing (exit 2)'}),
    patch: Flags.string({summary: 'also write the edits as a patch; - writes it to standard output', helpValue: '<file>'}),
  }

  async run(): Promise<ExitCode | undefined> {
    const {argv, flags} = await this.parse(AbsorbCommand)
    const words = objectWords(argv, AbsorbCommand, this.id)
    if (flags['synth-dir'] !== undefined)
      throw new UsageError('--synth-dir names what a program has written, and absorb edits the program', [
        'Leave --synth-dir out, in the folder of cdktf.json.',
      ])
    const wrong = flags.field?.find(it => !/^(\/([^~]|~[01])*)$/.test(it))
    if (wrong !== undefined)
      throw new UsageError(`--field ${wrong} is no JSON pointer of a field`, ['Write it as a plan shows it: --field /memoryLimitInGb.'])
    const loaded = await this.readDeclarations(flags)
    const read = async (workspace: Workspace) => {
      const {planAbsorption} = await import('../run/import/absorb.ts')
      const planned = await planAbsorption(workspace, {words, fields: flags.field ?? []})
      await this.#writePatch(planned, flags.patch)
      return planned
    }
    const {done, used} = await this.inWorkspace(loaded, flags, 'plan', async workspace => {
      const done = flags['dry-run']
        ? await this.reading(() => read(workspace))
        : await this.locked(workspace, flags['lock-timeout'], async () => this.#absorb(workspace, await read(workspace), flags))
      return {done, used: workspace.usedRequests()}
    })
    const {absorbed, manual, proof} = done
    const {absorbText} = await import('../report/absorb-text.ts')
    const document = {absorbed, manual, proof, requests: {used}}
    if (flags.patch !== '-') await this.print(asJson(document), {text: () => absorbText(document, proof === 'empty')})
    if (flags['dry-run'] && absorbed.length + manual.length > 0) return EXIT.changes
    return manual.length > 0 ? EXIT.partial : EXIT.ok
  }

  async #writePatch({files}: Absorption, to: string | undefined): Promise<void> {
    if (to === undefined) return
    const [{unifiedDiff}, {writeNamedFile}] = await Promise.all([import('../absorb/patch.ts'), import('../base/named-file.ts')])
    const patches = files.map(({file, before, after}) => ({
      file,
      text: unifiedDiff([{file, before: Buffer.from(before).toString('utf8'), after}]),
    }))
    const text = patches.map(it => it.text).join('')
    if (to !== '-') return writeNamedFile(to, text, this.context)
    const {redactor} = this.context
    const secret = patches.filter(it => redactor.text(it.text) !== it.text)
    if (secret.length > 0) throw new SecretInPatchError(secret.map(it => it.file))
    await this.write(text, true)
  }

  async #absorb(workspace: Workspace, planned: Absorption, flags: AbsorbFlagValues): Promise<AbsorbDone> {
    const {absorbed, files} = planned
    if (absorbed.length > 0) {
      const {absorbText} = await import('../report/absorb-text.ts')
      if (!flags.yes && !this.forPrograms && flags.patch !== '-')
        await this.write(visible(`${absorbText({...planned, manual: []}, false)}\n`))
      const what = `${absorbed.length} ${absorbed.length === 1 ? 'value' : 'values'} into ${files.map(it => it.file).join(', ')}`
      await this.confirm(`Write ${what}?`, flags.yes ?? false)
    }
    const {carryOutAbsorption} = await import('../run/import/absorb.ts')
    this.assertNotStopped()
    const interrupts = onInterrupt(
      () => this.logger.warn('stopping: the files are put back'),
      () => {},
    )
    try {
      return await carryOutAbsorption(workspace, planned, {
        reload: signal => this.#reload(flags, signal),
        signal: interrupts.signal,
        onRecord: () => this.beginChanging(),
      })
    } catch (error) {
      throw interrupts.signal.aborted ? new InterruptedError() : error
    } finally {
      interrupts.off()
    }
  }

  async #reload(flags: AbsorbFlagValues, signal: AbortSignal): Promise<LoadedDeclarations> {
    const {readDeclarations} = await import('../run/workspace/declarations.ts')
    return readDeclarations(this.context, {
      synthDir: undefined,
      synthEnvironment: flags['synth-env'],
      stacks: flags.stack,
      stateFile: flags.state,
      mode: 'plan',
      variables: variableOptions(this.argv),
      signal,
    })
  }
}

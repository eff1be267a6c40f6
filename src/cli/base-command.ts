/**
 * What every command is: options parsed, a result written in the form asked for, everything else on standard error.
 * A command's `run` answers an exit code when it is not 0, and throws an AppError when it failed.
 */

import type {Api} from '../base/apis.ts'
import type {AppError, ExitCode} from '../base/errors.ts'
import {indentedJson} from '../base/indented-json.ts'
import type {JsonObject} from '../base/json.ts'
import {type ExactJson, stringifyExactJson} from '../base/lossless-json.ts'
import {UsageError} from '../base/usage-error.ts'
import {type Connection, resolveConnection} from '../config/connection.ts'
import {describeSource} from '../config/connection-sources.ts'
import {isDocumentFormat, isOutputFormat, type OutputFormat, type Presentation, renderShown} from '../report/output-format.ts'
import {compileQuery, type Query, type QueryAnswer} from '../report/query.ts'
import {WIDEST_CELL} from '../report/table.ts'
import {visible} from '../report/terminal-text.ts'
import {outputFormatIn} from './parse/argv.ts'
import {parseCommandLine} from './parse/command-line.ts'
import {type ConnectionFlagValues, connectionFlagsFrom, outputFlags} from './parse/flags.ts'
import type {Interfaces} from './parse/oclif.ts'
import {confirm, readSecret} from './prompt.ts'
import {type Context, folded, type OutputStream, paintFor, terminalWidth} from './shell/context.ts'
import {type Log, levelFor} from './shell/log.ts'
import {errorDocument, errorText} from './show/render-error.ts'

type FlagValues = Interfaces.OutputFlags<Interfaces.FlagInput>
type ArgValues = Interfaces.OutputArgs<Interfaces.ArgInput>

export interface ConnectOptions {
  /** The profile a stack's target names. */
  readonly target?: string | undefined
  /** The command opens the other API too: a `--profile` of the other type is meant for that one. */
  readonly bothApis?: boolean
}

export abstract class BaseCommand {
  /** A lowercase fragment: "print the version of svcctl". */
  static summary = ''
  /** More than the summary says; paragraphs end with a newline. */
  static description: string | undefined
  /** At least two, with long flags; `<%= config.bin %> <%= command.id %>` stands for the command's words. */
  static examples: readonly string[] = []
  /** In the order of the command line; each with `ignoreStdin: true`. */
  static args: Interfaces.ArgInput = {}
  static flags: Interfaces.FlagInput = {}
  static baseFlags = outputFlags
  /** `false` takes any number of arguments. */
  static strict = true
  /** Not in help. */
  static hidden = false

  readonly context: Context
  /** The words that called it: `profile set`. */
  readonly id: string
  protected readonly argv: string[]
  /** What `-o` asked for; `text` when it did not. A command may read it, `print` obeys it. */
  protected format: OutputFormat
  #query: Query | undefined
  #printed = false
  #stdinFor: string | undefined
  #stdinSecret: string | undefined

  constructor(argv: string[], context: Context, id: string) {
    this.argv = argv
    this.context = context
    this.id = id
    this.format = outputFormatIn(argv) ?? 'text'
  }

  /** @returns the exit code when it is not 0 */
  abstract run(): Promise<ExitCode | undefined>

  /** Whether the document is out already, so that a failure must not write another one. */
  get printed(): boolean {
    return this.#printed
  }

  protected get logger(): Log {
    return this.context.log
  }

  /** A program reads the result: no progress views, no prose on standard output. */
  protected get forPrograms(): boolean {
    return isDocumentFormat(this.format)
  }

  /**
   * @throws UsageError, UnknownOptionError, MissingArgumentError, QuerySyntaxError: all exit 64, all before anything is sent
   */
  protected async parse<F extends FlagValues, B extends FlagValues, A extends ArgValues>(
    options: Interfaces.Input<F, B, A>,
    argv: string[] = this.argv,
  ): Promise<Interfaces.ParserOutput<F, B, A>> {
    const flags: Interfaces.FlagInput = {...options.baseFlags, ...options.flags}
    const output = await parseCommandLine({command: this.id, argv, flags, args: options.args ?? {}, strict: options.strict})
    const verbose = output.raw.filter(token => token.type === 'flag' && token.flag === 'verbose').length
    await this.#obey(output.flags, verbose)
    return output as Interfaces.ParserOutput<F, B, A>
  }

  async #obey(flags: FlagValues, verbose: number): Promise<void> {
    this.context.here.learn(flags)
    this.logger.raise(levelFor(verbose))
    if (typeof flags.output === 'string' && isOutputFormat(flags.output)) this.format = flags.output
    if (typeof flags.query === 'string') {
      this.#query = await compileQuery(flags.query, this.context.redactor)
      // A filtered answer is data: people who filter and say nothing else expect to see the data.
      if (flags.output === undefined) this.format = 'json'
    }
  }

  /** Writes the result, filtered by `-q` and in the form of `-o`. Once per command. */
  protected async print(document: ExactJson, presentation: Presentation = {}): Promise<void> {
    if (this.format === 'json') {
      const answer = this.#filtered(document)
      return this.printText(indentedJson(answer.document, this.context.redactor, answer.isPlain))
    }
    const text = await this.#rendered(document, presentation)
    this.#printed = true
    await this.write(text, presentation.isDocument === true || this.forPrograms)
  }

  /** As `print`, for a document that is text already, its secrets hidden. */
  protected async printText(parts: Iterable<string | Uint8Array>): Promise<void> {
    this.#printed = true
    for (const part of parts) await this.write(part, true)
  }

  /** As `print`, for one of a stream of results: a JSON document is one line, a YAML document begins with `---`. */
  protected async printNext(document: ExactJson, presentation: Presentation = {}): Promise<void> {
    const {redactor} = this.context
    const text =
      this.format === 'json'
        ? `${stringifyExactJson(redactor.value(this.#filtered(document).document))}\n`
        : await this.#rendered(document, presentation)
    this.#printed = true
    await this.write(this.format === 'yaml' ? `---\n${text}` : text, this.forPrograms)
  }

  async #rendered(document: ExactJson, presentation: Presentation): Promise<string> {
    const {redactor} = this.context
    const how = this.#query === undefined ? presentation : {}
    const widest = terminalWidth(this.context.streams.stdout) === undefined ? undefined : WIDEST_CELL
    return renderShown(() => redactor.value(this.#filtered(document).document), this.format, how, widest)
  }

  /** Whether `-q` makes another document of the result: it has to be whole before anything of it is written. */
  protected get filtering(): boolean {
    return this.#query !== undefined
  }

  #filtered(document: ExactJson): QueryAnswer {
    return this.#query === undefined ? {document, isPlain: false} : this.#query(document)
  }

  /** For what ends the process before the event loop turns again: the failure as a document and as text, written synchronously. */
  protected failAtOnce(error: AppError, documentOf: (error: AppError, here: Context['here']['text']) => JsonObject = errorDocument): void {
    const {redactor, streams, documents, environment, log, here} = this.context
    log.below([])
    if (this.forPrograms && !this.#printed) documents.write(`${stringifyExactJson(redactor.value(documentOf(error, here.text)), 2)}\n`)
    this.#printed = true
    const text = errorText(error, paintFor(streams.stderr, environment), false, here.text)
    streams.stderr.write(folded(visible(redactor.text(text)), streams.stderr))
  }

  /** Text to standard output, a document as it is; resolves when there is room for more. */
  protected async write(text: string | Uint8Array, isDocument = false): Promise<void> {
    const {streams, documents} = this.context
    const stdout = isDocument ? documents : streams.stdout
    if (!stdout.write(text)) await drained(stdout)
  }

  /**
   * The connection to one API, its warnings said, its secrets registered.
   * @throws what `resolveConnection` throws
   */
  protected async connect(api: Api, flags: ConnectionFlagValues, options: ConnectOptions = {}): Promise<Connection> {
    const {environment, keyring, redactor} = this.context
    const connection = await resolveConnection(api, {
      environment,
      keyring,
      profiles: this.context.profiles(),
      flags: connectionFlagsFrom(await this.#withSecrets(flags)),
      wish: {flag: flags.profile, ...options},
    })
    if (connection.credentials.type === 'basic') redactor.registerBasic(connection.credentials.username, connection.credentials.password)
    for (const secret of connection.secrets) redactor.register(secret)
    for (const warning of connection.warnings) this.logger.warn(warning)
    this.logger.debug(`${api} API at ${connection.address}${connection.profile === undefined ? '' : `, profile "${connection.profile}"`}`)
    for (const [field, source] of Object.entries(connection.sources)) this.logger.debug(`  ${field}: ${describeSource(source)}`)
    return connection
  }

  async #withSecrets(flags: ConnectionFlagValues): Promise<ConnectionFlagValues> {
    const read: Record<string, string> = {}
    for (const name of ['api-key', 'api-secret', 'password'] as const) {
      if (flags[name] === '-') read[name] = await this.secretFromInput(`--${name}`)
    }
    return {...flags, ...read}
  }

  /** The value of a secret option given as `-`. Standard input can give one secret, and gives it as often as asked. */
  protected async secretFromInput(option: string): Promise<string> {
    if (this.#stdinFor !== undefined && this.#stdinFor !== option) {
      throw new UsageError(`standard input can give one secret, and ${this.#stdinFor} and ${option} both ask for it`, [
        `Give one of them in another way: an environment variable, or a profile.`,
      ])
    }
    this.#stdinFor = option
    this.#stdinSecret ??= await readSecret(this.context, option)
    this.context.redactor.register(this.#stdinSecret)
    return this.#stdinSecret
  }

  /** Asks before something is lost. @throws NotConfirmedError (exit 3) when nobody says yes */
  protected async confirm(question: string, yes: boolean, allow = '--yes'): Promise<void> {
    if (!yes) await confirm(this.context, question, allow)
  }
}

const drained = (stream: OutputStream): Promise<void> =>
  new Promise(resolve => {
    const done = () => {
      stream.off('drain', done).off('close', done).off('error', done)
      resolve()
    }
    stream.on('drain', done).on('close', done).on('error', done)
  })

/** The reports of one command: what is known by its end, rendered in every form that was asked for, wherever it goes. */
import {type AppError, EXIT} from '../../base/errors.ts'
import {appendToNamedFile, writeNamedFile} from '../../base/named-file.ts'
import {withoutCommands} from '../../base/runner-commands.ts'
import {currentJob} from '../../config/ci-job.ts'
import type {ReportFrame} from '../../report/document/of-plan.ts'
import {loadFormat, type ReportFormatName} from '../../report/formats/registry.ts'
import type {Report, ReportCommand} from '../../report/report.ts'
import type {ReportPiece} from '../../report/report-format.ts'
import type {Host} from '../host/host.ts'
import {folderInRepository, reportFrame} from './report-frame.ts'

export interface ReportWish {
  readonly format: ReportFormatName
  /** Absent: standard output. */
  readonly file?: string
}

export interface ReportOutlets {
  /** Standard output, for a report without a file. */
  readonly stdout: (text: string) => Promise<void>
  /** What a job's runner reads line by line: standard output, or standard error where a document stands there. */
  readonly log: (text: string) => Promise<void>
  readonly note: (text: string) => void
}

export class Reports {
  readonly #host: Host
  readonly #wishes: readonly ReportWish[]
  readonly #command: ReportCommand
  readonly #outlets: ReportOutlets
  #stacks: readonly string[]
  #known: ((frame: ReportFrame) => Report) | undefined
  #written = false

  /** @param stacks - what `--stack` says, until somebody knows better */
  constructor(host: Host, wishes: readonly ReportWish[], command: ReportCommand, stacks: readonly string[], outlets: ReportOutlets) {
    this.#host = host
    this.#wishes = wishes
    this.#command = command
    this.#stacks = stacks
    this.#outlets = outlets
  }

  /** A report takes the place of the result on standard output. */
  get takesStdout(): boolean {
    return this.#wishes.some(it => it.file === undefined && it.format !== 'github')
  }

  asks(format: ReportWish['format']): boolean {
    return this.#wishes.some(it => it.format === format)
  }

  learnStacks(stacks: readonly string[]): void {
    this.#stacks = stacks
  }

  /** What is known so far; the last one counts. */
  learn(make: (frame: ReportFrame) => Report): void {
    this.#known = make
  }

  /** @throws NotAFileError, NamedFileError, and what rendering throws */
  async write(failure?: AppError): Promise<void> {
    if (this.#written) return
    this.#written = true
    const folder = folderInRepository(this.#host)
    const report = this.#host.redactor.value(this.#report(folder, failure))
    for (const wish of this.#wishes) {
      const format = await loadFormat(wish.format)
      for (const piece of await format.render(report, folder)) await this.#put(piece, wish)
    }
  }

  #report(folder: string, failure: AppError | undefined): Report {
    const frame = reportFrame(this.#command, folder, this.#stacks, currentJob(this.#host.environment.all))
    const empty: Report = {...frame, stacks: this.#stacks, refused: false, objects: [], guards: [], cost: {}, notShown: [], notes: []}
    const known = this.#known?.(frame) ?? empty
    if (failure === undefined) return known
    const {code, message, suggestions, problems = []} = failure
    return {...known, refused: failure.exit === EXIT.refused, failure: {code, message, suggestions, problems}}
  }

  async #put({to, text}: ReportPiece, {file, format}: ReportWish): Promise<void> {
    const {environment} = this.#host
    switch (to) {
      case 'place':
        // Standard output is the log of a CI job, whose runner reads names of objects there, too.
        return file === undefined ? this.#outlets.stdout(withoutCommands(text)) : writeNamedFile(file, text, this.#host)
      case 'log':
        return this.#outlets.log(text)
      case 'job summary':
        return this.#append(file ?? environment.jobFiles.summary, text, format, 'GITHUB_STEP_SUMMARY')
      case 'job output':
        return this.#append(environment.jobFiles.output, text, format, 'GITHUB_OUTPUT')
      default:
        return to satisfies never
    }
  }

  async #append(file: string | undefined, text: string, format: string, variable: string): Promise<void> {
    if (file === undefined) {
      this.#outlets.note(`--report ${format}: ${variable} is not set, so that part is left out`)
      return
    }
    return appendToNamedFile(file, text, this.#host)
  }
}

/** What `cluster`, `database` and `node` share: the order of work of a package. */
import {rm} from 'node:fs/promises'
import {AppError} from '../../base/errors.ts'
import {notEmpty, UsageError} from '../../base/usage-error.ts'
import {describeCredentials} from '../../config/connection-sources.ts'
import {isOutputFormat} from '../../report/output-format.ts'
import {harmless} from '../../report/terminal-text.ts'
import {openCluster} from '../../run/workspace/open-api.ts'
import {destinationOf, LOW_SPACE_BYTES, lookAtDestination, throughFolder} from '../../support-package/destination.ts'
import {type MadePackage, makePackage, type PackageEvent} from '../../support-package/make-package.ts'
import {PackageLateError} from '../../support-package/package-errors.ts'
import {defaultFileName, type PackageScope} from '../../support-package/package-paths.ts'
import {begunResult, displaySize, identifyCluster, optimizationText, packageResult} from '../../support-package/package-result.ts'
import {type Uploaded, UploadInterruptedError} from '../../support-package/upload-archive.ts'
import type {ConnectionFlagValues} from '../parse/flags.ts'
import {isInteractive} from '../shell/context.ts'
import {OutcomeCommand} from './outcome-command.ts'
import type {PackageFlagValues} from './package-flags.ts'
import {ProgressLine} from './progress-line.ts'
import {withinTime} from './time-limit.ts'
import {openUploadService, type UploadService, UploadUnfinishedError} from './upload-service.ts'

type Flags = PackageFlagValues & ConnectionFlagValues

export abstract class PackageCommand extends OutcomeCommand {
  /** Everything that can be refused is refused before anything is generated. */
  protected async makePackage(scope: PackageScope, flags: Flags, signal: AbortSignal): Promise<undefined> {
    const {clock, cwd} = this.context
    const began = clock.now()
    if (!flags.save && !flags.upload)
      throw new UsageError('--no-save leaves nothing without --upload', ['Add --upload, or leave --no-save out.'])
    const connection = await this.connect('cluster', flags)
    const service = flags.upload ? await openUploadService(this.context, flags.profile) : undefined
    const name = defaultFileName(scope, began)
    const place = await destinationOf(cwd, pathIn(flags), name)
    if (place.is === 'stream' && flags.upload)
      throw new UsageError(`--upload sends a file, and ${place.path} is none`, ['Leave --upload out, or name a file.'])
    const replace = place.is === 'stream' || flags['skip-checks'] || (await this.#check(place.path, flags.overwrite))
    const api = openCluster(this.context, connection)
    const source = describeCredentials('cluster', connection.sources)
    const line = new ProgressLine(this.context, 'Downloaded')
    try {
      const make = (target: string, inTime: AbortSignal): Promise<MadePackage> =>
        makePackage({
          client: api.client,
          cluster: api.backend,
          clock,
          scope,
          newApi: flags['use-new-api'],
          target,
          replace,
          ...((flags.optimize || flags['optimize-verbose']) && {optimize: {logLines: flags['log-lines']}}),
          maxBytes: flags['max-size'],
          wait: flags.wait,
          waitTimeoutMs: flags['wait-timeout'] * 1000,
          idleTimeoutMs: flags['idle-timeout'],
          ...(connection.settings.pollIntervalMs !== undefined && {pollIntervalMs: connection.settings.pollIntervalMs}),
          ...(source !== undefined && {credentialSource: source}),
          signal: inTime,
          onEvent: event => this.#tell(event, line),
        }).finally(() => line.end())
      const late = (seconds: number) => new PackageLateError(seconds)
      const made = await withinTime({clock, timeoutMs: flags.timeout, signal, late}, inTime =>
        place.is === 'file'
          ? make(place.path, inTime)
          : throughFolder(place, {name, clock, signal: inTime}, target => make(target, inTime)),
      )
      if (made.is === 'begun') return await this.#printBegun(made, flags)
      const file = place.is === 'stream' ? place.path : made.path
      if (file !== place.path)
        this.logger.warn(`${harmless(place.path)} appeared meanwhile and is left alone: the archive is saved as ${harmless(file)}`)
      const uploaded = service && (await this.#upload(service, file, flags, signal))
      await this.#printResult(
        {scope, saved: made, ...(made.taskId !== undefined && {taskId: made.taskId})},
        {
          ...(flags.save && {file}),
          ...(uploaded && {uploaded}),
          cluster: await identifyCluster(api.backend, clock, signal),
          elapsedMs: clock.now() - began,
          now: clock.now(),
          verbose: flags['optimize-verbose'],
        },
      )
    } finally {
      await api.close()
      await service?.close()
    }
  }

  /**
   * Contract section 4, "Pre-flight checks", with its words.
   * @returns whether what stands there may be replaced
   */
  async #check(target: string, overwrite: boolean): Promise<boolean> {
    const {freeBytes, exists} = await lookAtDestination(target)
    if (freeBytes !== undefined && freeBytes < LOW_SPACE_BYTES) {
      this.logger.warn(`only ${displaySize(freeBytes)} are free where ${harmless(target)} goes`)
      await this.#ask('Continue anyway?', '--skip-checks')
    }
    if (exists && !overwrite) {
      this.logger.warn(`${harmless(target)} exists already`)
      await this.#ask('Overwrite?', '--overwrite')
    }
    return exists || overwrite
  }

  /** The question is seen also where nobody can answer it: in a log it says what the refusal was about. */
  async #ask(question: string, allow: string): Promise<void> {
    if (!isInteractive(this.context)) this.logger.note(`${question} (y/N) no: there is no terminal to ask on`)
    await this.confirm(question, false, allow)
  }

  #tell(event: PackageEvent, line: ProgressLine): void {
    switch (event.type) {
      case 'progress':
        line.show(event)
        break
      case 'requested':
        this.logger.info(`asking for the package: GET ${event.path}`)
        break
      case 'other-family':
        this.logger.info(`this server does not know ${event.path}; trying the other endpoints`)
        break
      case 'node-unproven':
        this.logger.warn(`whether the node is there could not be asked: ${event.reason}`)
        break
      case 'all-nodes':
        this.logger.warn(
          event.alone
            ? 'this server has only the endpoint that ignores the node: the package holds all nodes'
            : 'this endpoint ignores the node: the package holds all nodes (--use-new-api asks for one)',
        )
        break
      case 'resumed':
        line.end()
        this.logger.note(`The connection broke after ${displaySize(event.bytes)}; going on from there.`)
        break
      case 'started-over':
        line.end()
        this.logger.note('The server has another archive now; beginning anew.')
        break
      case 'status': {
        const {progress, message, status} = event.status
        const text = `${status}${progress === null ? '' : ` ${progress} %`}${message === null ? '' : `: ${harmless(message)}`}`
        if (this.forPrograms) this.logger.info(text)
        else this.logger.note(text)
        break
      }
      default:
        event satisfies never
    }
  }

  async #upload(service: UploadService, file: string, flags: Flags, signal: AbortSignal): Promise<Uploaded> {
    let uploaded: Uploaded
    try {
      uploaded = await service.upload(file, {idleTimeoutMs: flags['idle-timeout'], signal})
    } catch (error) {
      if (signal.aborted) throw new UploadInterruptedError(file, flags.save)
      throw error instanceof AppError ? new UploadUnfinishedError(error, file, flags.save) : error
    }
    // The size at the service is proven: only now the local copy may go.
    if (!flags.save) await rm(file)
    return uploaded
  }

  async #printBegun({status}: Extract<MadePackage, {is: 'begun'}>, flags: Flags): Promise<undefined> {
    if (flags.upload) this.logger.warn('without waiting nothing is downloaded or uploaded')
    const document = begunResult(status)
    await this.print(document, {text: () => `The package is being made: task ${status.taskId}\nSee how far it is: ${document.command}`})
    return undefined
  }

  async #printResult(
    made: Pick<Parameters<typeof packageResult>[0], 'scope' | 'saved' | 'taskId'>,
    {verbose, ...rest}: Omit<Parameters<typeof packageResult>[0], 'scope' | 'saved' | 'taskId'> & {readonly verbose: boolean},
  ): Promise<void> {
    const document = packageResult({...made, ...rest})
    const {optimization, sizeBytes} = made.saved
    const {file, uploaded} = rest
    const text = () =>
      [
        document.message,
        ...(file === undefined ? [] : [`  file      ${file}`]),
        `  size      ${displaySize(sizeBytes)}`,
        `  elapsed   ${document.elapsed_seconds} s`,
        ...(uploaded === undefined
          ? []
          : [`  uploaded  ${uploaded.path} (${uploaded.size} bytes in ${Math.round(uploaded.elapsedMs / 1000)} s)`]),
        ...(verbose && optimization !== undefined ? ['', optimizationText(optimization)] : []),
      ].join('\n')
    await this.print(document, {text: () => harmless(text())})
  }
}

/** `-o PATH` or `--file PATH`. @throws UsageError for more than one */
function pathIn({file, output = []}: Flags): string | undefined {
  const paths = [...(file === undefined ? [] : [file]), ...output.filter(text => !isOutputFormat(text))]
  for (const path of paths) notEmpty(path, 'the path of the archive')
  if (paths.length > 1) throw new UsageError('the path of the archive is given twice', ['Give it once: --file PATH.'])
  return paths[0]
}

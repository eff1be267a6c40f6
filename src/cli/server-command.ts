/** Commands that talk to one server: the connection is opened before and closed after, and what is shown holds no secret. */
import type {CloudBackend} from '../backends/cloud/backend.ts'
import type {ClusterBackend} from '../backends/cluster/backend.ts'
import type {Api} from '../base/apis.ts'
import type {ExactJson} from '../base/lossless-json.ts'
import {maskSecrets} from '../base/secret-fields.ts'
import {PRIORITY} from '../engine/model/backend.ts'
import {fieldTable, type ShownField} from '../report/field-table.ts'
import {type OpenedApi, openCloud, openCluster} from '../run/workspace/open-api.ts'
import type {CallOptions} from '../transport/api-client.ts'
import type {OnTransportEvent} from '../transport/transport-event.ts'
import {BaseCommand} from './base-command.ts'
import {endingOnInterrupt, InterruptedError, InterruptedWriteError, type PendingWrite} from './interrupt.ts'
import type {ConnectionFlagValues} from './parse/flags.ts'

/** Somebody waits for the answer: these requests go before those of plans and applies. */
export const INTERACTIVE = {priority: PRIORITY.interactive} as const

type Row = {readonly [key: string]: ExactJson}

export abstract class ServerCommand extends BaseCommand {
  /** It runs until somebody stops it: being stopped is its end, and no failure. */
  protected untilStopped = false
  #pending: PendingWrite | undefined

  /** @throws what `connect` throws, and what `use` does */
  protected async withCloud<T>(flags: ConnectionFlagValues, use: (api: OpenedApi<CloudBackend>) => Promise<T>): Promise<T> {
    return this.waited('cloud', onEvent =>
      this.closing(async () => openCloud(this.context, await this.connect('cloud', flags), {onEvent}), use),
    )
  }

  protected async withCluster<T>(flags: ConnectionFlagValues, use: (api: OpenedApi<ClusterBackend>) => Promise<T>): Promise<T> {
    return this.waited('cluster', onEvent =>
      this.closing(async () => openCluster(this.context, await this.connect('cluster', flags), {onEvent}), use),
    )
  }

  /** Says what is waited for where the answers are slow. */
  private async waited<T>(api: Api, work: (onEvent: OnTransportEvent) => Promise<T>): Promise<T> {
    const [{readingOf}, {showProgress}] = await Promise.all([import('./reading-events.ts'), import('./show/progress.ts')])
    return showProgress(this.context, {several: false, constructs: new Map()}, emit => work(readingOf(`Waiting for the ${api} API`, emit)))
  }

  /** Gives back what the connection took when `use` is over, and when the command is stopped in the middle. */
  protected async closing<A extends {close(): Promise<void>}, T>(open: () => Promise<A>, use: (api: A) => Promise<T>): Promise<T> {
    const held: {api?: A} = {}
    const run = async () => {
      held.api = await open()
      return use(held.api)
    }
    try {
      return await endingOnInterrupt(run, async usual => {
        const code = this.#stopped(usual)
        this.logger.end()
        await held.api?.close()
        return code
      })
    } finally {
      await held.api?.close()
    }
  }

  /**
   * A write, from its request to its answer: whoever stops the command meanwhile is told where to look.
   * @param send - hands `beforeSend` on: a write that still waits for its turn, also after a refusal, has changed nothing
   */
  protected async writing<T>(
    write: PendingWrite,
    send: (options: Required<Pick<CallOptions, 'priority' | 'beforeSend' | 'onRefused'>>) => Promise<T>,
  ): Promise<T> {
    try {
      return await send({
        ...INTERACTIVE,
        beforeSend: async () => {
          this.#pending = write
          return undefined
        },
        onRefused: () => {
          this.#pending = undefined
        },
      })
    } finally {
      this.#pending = undefined
    }
  }

  /** @returns the exit code */
  #stopped(usual: number): number {
    if (this.#pending !== undefined) {
      const error = new InterruptedWriteError(this.#pending)
      this.failAtOnce(error)
      return error.exit
    }
    if (this.untilStopped) this.logger.note('stopped')
    else this.failAtOnce(new InterruptedError())
    return usual
  }

  /** A list: a table of these fields for people, all of it for programs. */
  protected async printRows(rows: readonly Row[], fields: readonly ShownField[], noun: string): Promise<void> {
    const shown = maskSecrets(rows)
    if (rows.length === 0 && !this.forPrograms) this.logger.note(`no ${noun}`)
    await this.print(shown, {table: widest => fieldTable(shown, fields, widest)})
  }

  /** One object, field by field. */
  protected printRecord(record: ExactJson): Promise<void> {
    return this.print(maskSecrets(record))
  }
}

/**
 * Both APIs as one function of a request over a world. It waits on the clock it is given and nowhere else, and the
 * same clock, seed and requests give the same answers.
 */

import type {Clock} from '../base/clock.ts'
import {ConnectionError} from '../transport/connection-error.ts'
import type {HttpRequest, OpenStream, Transport} from '../transport/http.ts'
import {API_NAMES, type ApiName, type Bases, SIMULATED} from './base/addresses.ts'
import {type Answer, type Exchange, Refusal} from './base/answer.ts'
import {configured, type SimulatorConfig, type SimulatorConfigInput} from './base/config.ts'
import {type FaultAction, FaultBook, type FaultInput, fault as faultRule, type MetFault, pathFits} from './base/fault-rule.ts'
import {drawDuration} from './base/random.ts'
import {settle} from './base/store.ts'
import type {World} from './base/world.ts'
import {applyEdit, type WorldEdit} from './base/world-edit.ts'
import {cloudApi} from './cloud/cloud-api.ts'
import {cloudError} from './cloud/errors.ts'
import {clusterApi} from './cluster/cluster-api.ts'
import {clusterError} from './cluster/errors.ts'
import {controlApi} from './control.ts'
import {initialWorld} from './initial-world.ts'
import type {Simulator, SimulatorHandle, Snapshot} from './interface.ts'
import {spend} from './rate-limit.ts'
import {type LogEntry, loggedBody} from './request-log.ts'
import {collectBody, toResponse} from './response.ts'
import {partAddress, uploadApi, uploadError} from './uploads/upload-api.ts'

export interface SimulatorOptions {
  readonly clock: Clock
  readonly seed?: number
  readonly config?: SimulatorConfigInput
}

export function createSimulator(options: SimulatorOptions): Simulator {
  return new WorldSimulator(options)
}

class WorldSimulator implements Simulator {
  readonly clock: Clock
  world: World
  config: SimulatorConfig
  bases: Bases = SIMULATED
  readonly log: LogEntry[] = []
  readonly #faults = new FaultBook()
  #sequence = 0

  constructor({clock, seed = 1, config = {}}: SimulatorOptions) {
    this.clock = clock
    this.config = configured(config)
    this.world = initialWorld(clock.now(), seed)
    this.#faults.add(...this.config.faults)
    for (const edit of this.config.start) this.edit(edit)
  }

  get faults(): readonly MetFault[] {
    return this.#faults.list()
  }

  clearLog(): void {
    this.log.length = 0
  }

  configure(patch: SimulatorConfigInput): void {
    this.config = configured(patch, this.config)
    if (patch.faults === undefined) return
    this.#faults.clear()
    this.#faults.add(...this.config.faults)
  }

  inject(...faults: readonly FaultInput[]): void {
    this.#faults.add(...faults.map(it => faultRule.parse(it)))
  }

  clearFaults(): void {
    this.#faults.clear()
  }

  edit(edit: WorldEdit): string {
    this.settle()
    return applyEdit(this.world, this.clock.now(), this.#lagMs(edit.path), edit)
  }

  settle(): void {
    settle(this.world, this.clock.now(), path => this.#lagMs(path))
  }

  snapshot(): Snapshot {
    return structuredClone({world: this.world, config: this.config, faults: this.faults})
  }

  restore(snapshot: Snapshot): void {
    const {world, config, faults} = structuredClone(snapshot)
    this.world = world
    this.config = config
    this.#faults.reset(faults)
  }

  serveAt(bases: Bases): void {
    this.bases = bases
  }

  readonly handle: SimulatorHandle = async request => {
    const {api, path, query} = this.#locate(request)
    if (path === undefined) return toResponse({status: 404, text: 'There is nothing at this address.'})
    const method = request.method.toUpperCase()
    if (api === 'control') return toResponse(controlApi(this, {method, path, query, body: bytesOf(request.body)}))
    const latencyMs = drawDuration(this.world.random, this.config.latencyMs)
    if (latencyMs > 0) await this.#wait(request, latencyMs)
    const fault = this.#faults.strike(api, method, path)
    const entry = {
      sequence: ++this.#sequence,
      at: this.clock.now(),
      api,
      method,
      path,
      query: query.toString(),
      ...(fault && {fault: fault.type}),
    }
    const body = api === 'parts' ? undefined : loggedBody(bytesOf(request.body))
    const date = new Date(this.clock.now()).toUTCString()
    const note = (status: number): void => {
      this.log.push({...entry, status, ...(body !== undefined && {body})})
    }
    try {
      const answer = await this.#answerWith(fault, request, api, {method, path, query})
      note(answer.status)
      if (answer.firstByteMs) await this.#wait(request, answer.firstByteMs)
      return toResponse(
        withHeaders(fault ? spoiled(fault, answer) : answer, {date}),
        fault?.type === 'cut' ? {cut: fault.bytes, request} : undefined,
      )
    } catch (error) {
      note(0)
      throw error
    }
  }

  readonly transport: Transport = async request => collectBody(await this.handle(request))

  readonly openStream: OpenStream = async ({firstByteTimeoutMs, idleTimeoutMs: _, body, ...request}) => {
    const sent = await wholeBody(body)
    const response = await this.handle({
      ...request,
      ...(sent !== undefined && {body: sent}),
      ...(firstByteTimeoutMs !== undefined && {timeoutMs: firstByteTimeoutMs}),
    })
    return {status: response.status, headers: response.headers, body: response.chunks ?? once(response.body)}
  }

  /** The answer, or what a fault puts in its place; faults that only spoil the body come later. */
  async #answerWith(
    fault: FaultAction | undefined,
    request: HttpRequest,
    api: ApiName,
    where: {method: string; path: string; query: URLSearchParams},
  ): Promise<Answer> {
    const answer = (): Answer => this.#answer(request, api, where, fault)
    switch (fault?.type) {
      case 'refuse':
        throw new ConnectionError('refused', request)
      case 'drop-before-effect':
        throw new ConnectionError('lost', request)
      case 'drop-after-effect':
        answer()
        throw new ConnectionError('lost', request)
      case 'hang':
        if (fault.effect) answer()
        await this.#wait(request, this.config.hangMs)
        throw new ConnectionError('lost', request)
      case 'delay':
        await this.#wait(request, fault.ms)
        return answer()
      case 'status': {
        const {status, headers, body, text} = fault
        if (fault.effect) answer()
        return {status, headers, ...(body === undefined ? {} : {json: body}), ...(text === undefined ? {} : {text})}
      }
      default:
        return answer()
    }
  }

  #answer(
    request: HttpRequest,
    api: ApiName,
    {method, path, query}: {method: string; path: string; query: URLSearchParams},
    fault: FaultAction | undefined,
  ): Answer {
    this.settle()
    const exchange: Exchange = {
      world: this.world,
      config: this.config,
      now: this.clock.now(),
      bases: this.bases,
      method,
      path,
      query,
      headers: lowerCased(request.headers),
      body: bytesOf(request.body),
      fault,
    }
    let rate: Record<string, string> = {}
    try {
      if (api === 'cloud') {
        rate = spend(this.world.buckets, api, this.config.cloud.rateLimit, exchange.now, this.config.cloud)
        refuseForbidden(exchange, this.config.cloud.forbidden, 'FORBIDDEN')
        return withHeaders(cloudApi(exchange), rate)
      }
      if (api === 'cluster') {
        const words = {rateHeaders: 'x-ratelimit', retryAfter: 'seconds'} as const
        rate = spend(this.world.buckets, api, this.config.cluster.rateLimit, exchange.now, words)
        refuseForbidden(exchange, this.config.cluster.forbidden, 'forbidden')
        return withHeaders(clusterApi(exchange), rate)
      }
      return api === 'parts' ? partAddress(exchange) : uploadApi(exchange)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const spell = api === 'cloud' ? cloudError : api === 'cluster' ? clusterError : uploadError
      return withHeaders(spell(exchange, error), rate)
    }
  }

  /** Waits on the simulator's clock, no longer than the client does. */
  async #wait(request: HttpRequest, ms: number): Promise<void> {
    const {timeoutMs, signal} = request
    const cut = timeoutMs !== undefined && timeoutMs < ms
    try {
      await this.clock.sleep(cut ? timeoutMs : ms, signal)
    } catch (error) {
      throw new ConnectionError('aborted', request, {cause: error})
    }
    if (cut) throw new ConnectionError('timeout', request)
  }

  /** @throws ConnectionError for an address that is none of ours */
  #locate(request: HttpRequest): {api: ApiName; path: string | undefined; query: URLSearchParams} {
    const url = new URL(request.url)
    for (const api of API_NAMES) {
      const base = new URL(this.bases[api])
      if (url.host !== base.host) continue
      const prefix = base.pathname === '/' ? '' : base.pathname
      const below = url.pathname === prefix || url.pathname.startsWith(`${prefix}/`)
      return {api, path: below ? url.pathname.slice(prefix.length) || '/' : undefined, query: url.searchParams}
    }
    throw new ConnectionError('dns', request)
  }

  #lagMs(path: string): number {
    return path.startsWith('cloud/') ? this.config.cloud.listLagMs : this.config.cluster.listLagMs
  }
}

function refuseForbidden({method, path}: Exchange, patterns: readonly string[], code: string): void {
  if (patterns.some(pattern => pathFits(pattern, `${method} ${path}`))) {
    throw new Refusal(403, code, 'These credentials may not do this.')
  }
}

const withHeaders = (answer: Answer, headers: Record<string, string>): Answer =>
  Object.keys(headers).length === 0 ? answer : {...answer, headers: {...headers, ...answer.headers}}

/** Faults that let the request through and break what comes back. */
function spoiled(fault: FaultAction, answer: Answer): Answer {
  if (fault.type === 'garbage') return {status: answer.status, headers: {'content-type': 'application/json'}, text: '\u0000<<< not json'}
  if (fault.type !== 'truncate') return answer
  return {...answer, truncateAt: fault.bytes ?? 'half'}
}

const lowerCased = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const bytesOf = (body: string | Uint8Array | undefined): Uint8Array =>
  body === undefined ? new Uint8Array() : typeof body === 'string' ? new TextEncoder().encode(body) : body

async function wholeBody(body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined): Promise<string | Uint8Array | undefined> {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return body
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts)
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  if (body.length > 0) yield body
}

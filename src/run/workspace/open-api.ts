/** From a connection to something that can be asked: transport, the account's budget, client and backend. */

import type {BackendOptions} from '../../backends/api/api-backend.ts'
import {type CloudBackend, openCloudBackend} from '../../backends/cloud/backend.ts'
import {type ClusterBackend, openClusterBackend} from '../../backends/cluster/backend.ts'
import {formatDuration} from '../../base/duration.ts'
import {shellWord} from '../../base/shell-word.ts'
import type {Connection} from '../../config/connection.ts'
import {adviceFor} from '../../config/connection-advice.ts'
import {describeCredentials} from '../../config/connection-sources.ts'
import type {ConnectedClient} from '../../transport/api-client.ts'
import {type Budget, NO_LIMITS} from '../../transport/budget.ts'
import {createApiClient} from '../../transport/create-api-client.ts'
import type {RequestAllowance} from '../../transport/request-allowance.ts'
import {createSharedBudget} from '../../transport/shared-budget.ts'
import type {OnTransportEvent, TransportEvent} from '../../transport/transport-event.ts'
import {createTransport} from '../../transport/undici-transport.ts'
import type {Host} from '../host/host.ts'

export interface OpenOptions {
  /** `plan`: the transport refuses everything but GET. */
  readonly mode?: 'plan' | 'full'
  /** `--max-requests`, shared by all connections of the run. */
  readonly allowance?: RequestAllowance
  /** Hears of every request, beside the log. */
  readonly onEvent?: OnTransportEvent | undefined
}

export interface OpenedApi<B> {
  readonly connection: Connection
  readonly client: ConnectedClient
  readonly backend: B
  readonly budget: Budget
  /** Gives unused tokens back and ends idle connections. */
  close(): Promise<void>
}

export function openCloud(host: Host, connection: Connection, options: OpenOptions = {}): OpenedApi<CloudBackend> {
  const {about, ...opened} = open(host, connection, options)
  return {...opened, backend: openCloudBackend(opened.client, about)}
}

export function openCluster(host: Host, connection: Connection, options: OpenOptions = {}): OpenedApi<ClusterBackend> {
  const {about, ...opened} = open(host, connection, options)
  return {...opened, backend: openClusterBackend(opened.client, about)}
}

function open(
  host: Host,
  connection: Connection,
  options: OpenOptions,
): Omit<OpenedApi<never>, 'backend'> & {readonly about: BackendOptions} {
  const {clock, wallClock, random, log, environment} = host
  const {settings, address, keyHash, sources} = connection
  const network = createTransport({
    insecure: connection.insecure,
    trust: connection.trust,
    cwd: host.cwd,
    advice: adviceFor(connection.api),
    timeoutMs: settings.requestTimeoutMs,
    maxResponseBytes: settings.maxResponseBytes,
    proxy: environment.proxy,
  })
  // One request of a person's own may wait for a breath: its success says nothing on standard error (interface, "api").
  const quietMs = options.mode === undefined ? BREATH_MS : 0
  const sayRetry = retriesSaid(host, connection.api, quietMs)
  const onEvent = (event: TransportEvent) => {
    if (event.type === 'retry' || event.type === 'request') sayRetry(event)
    if (event.type !== 'retry') logEvent(host, connection.api, event, quietMs)
    options.onEvent?.(event)
  }
  const limits =
    settings.ratePerMinute === undefined
      ? NO_LIMITS
      : {perMinute: settings.ratePerMinute, burst: settings.burst ?? settings.ratePerMinute, reserve: settings.reserve}
  const budget = createSharedBudget({stateDir: environment.stateDir, address, keyHash, limits, clock: wallClock, random, onEvent})
  const guard = settings.mode === 'read-only' ? 'read-only' : (options.mode ?? 'full')
  const client = createApiClient({
    address,
    authentication: headersOf(connection),
    transport: network.send,
    openStream: network.openStream,
    budget,
    clock: wallClock,
    random: () => (random(1)[0] ?? 0) / 256,
    requestTimeoutMs: settings.requestTimeoutMs,
    mode: guard,
    ...(connection.readOnlyBy === undefined ? {} : {profile: connection.readOnlyBy}),
    onEvent,
    retryWritesOn503: connection.api === 'cloud',
    ...(options.allowance ? {allowance: options.allowance} : {}),
  })
  const source = describeCredentials(connection.api, sources)
  const about: BackendOptions = {
    clock,
    maxResponseBytes: settings.maxResponseBytes,
    onWarning: warning => log.warn(warning.message),
    onWait: text => log.note(`${connection.api} ${text}`),
    ...(source === undefined ? {} : {credentialSource: source}),
    ...(settings.pollIntervalMs === undefined ? {} : {pollIntervalMs: settings.pollIntervalMs}),
  }
  const close = async () => {
    budget.close()
    await network.close()
  }
  return {connection, client, budget, close, about}
}

function headersOf({credentials}: Connection): Record<string, string> {
  if (credentials.type === 'key') return {'x-api-key': credentials.key, 'x-api-secret-key': credentials.secret}
  return {authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`}
}

/** What a person who waits for one answer takes for a slow server. */
const BREATH_MS = 5_000

/** However many requests are tried again: an outage is said once in so long. */
const SAY_AGAIN_MS = 2_000

type Tried = Extract<TransportEvent, {readonly type: 'request' | 'retry'}>

/** A request that is tried again after a pause, or after a try that took long, says so, since nothing else happens meanwhile; the rest is for `-v`. */
function retriesSaid({log, clock}: Pick<Host, 'log' | 'clock'>, api: string, quietMs: number): (event: Tried) => void {
  let saidAt = Number.NEGATIVE_INFINITY
  /** How long the tries took that took longer than a breath. */
  const long = new Map<string, number>()
  return event => {
    const {method, path} = event
    const request = `${method} ${path}`
    if (event.type === 'request') {
      if (event.ms > BREATH_MS) long.set(request, event.ms)
      return
    }
    const {because, delayMs} = event
    const silentMs = delayMs + (long.get(request) ?? 0)
    long.delete(request)
    const now = clock.now()
    const isNews = silentMs > quietMs && now - saidAt >= SAY_AGAIN_MS
    if (isNews) saidAt = now
    const say = (text: string) => (isNews ? log.note(text) : log.info(text))
    say(`${api} ${request}: ${because}, tried again in ${formatDuration(delayMs)}`)
  }
}

function logEvent({log}: Host, api: string, event: Exclude<TransportEvent, {readonly type: 'retry'}>, quietMs: number): void {
  switch (event.type) {
    case 'request': {
      const end = event.status ?? event.failure ?? '?'
      const waited = event.waitedMs > 0 ? `, waited ${event.waitedMs} ms` : ''
      const left = Number.isFinite(event.available) ? `, ${Math.floor(event.available)} requests left` : ''
      log.info(`${api} ${event.method} ${event.path} -> ${end} (${event.ms} ms${waited}${left})`)
      return
    }
    case 'asked':
    case 'answered':
      return
    case 'redirect':
      log.info(`${api} ${event.method} ${event.path} -> ${event.status} to ${event.to}`)
      return
    case 'paused':
      log.info(`${api}: too many requests; nobody sends for ${event.ms} ms`)
      return
    case 'waiting': {
      const {ms, requests, perMinute, paused, file} = event
      if (ms <= quietMs) return
      const who = `${requests} ${requests === 1 ? 'request waits' : 'requests wait'}`
      const why = paused ? 'the server asked for a pause (429)' : `the request budget is ${Math.round(perMinute)} a minute`
      log.note(`${api}: ${who}, about ${formatDuration(ms)}: ${why}${paused ? `; to go on at once: rm ${shellWord(file)}` : ''}`)
      return
    }
    case 'budget-rebuilt':
      log.warn(`the budget file ${event.file} was unreadable and begins anew: ${event.because}`)
      return
    case 'budget-alone':
      log.warn(`the budget is not shared with other processes: ${event.file}: ${event.because}`)
      return
    default:
      event satisfies never
  }
}

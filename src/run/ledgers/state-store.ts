/** Opens what is kept in a file or behind Terraform's HTTP state protocol: ledgers, and controls in the same manner. */
import {hostname} from 'node:os'
import {userName} from '../../config/actor.ts'
import {environmentMaxResponse} from '../../config/settings.ts'
import type {OpenLedgerOptions} from '../../ledger/backends/backend.ts'
import {openLedgerStore} from '../../ledger/backends/open-ledger.ts'
import {backendOf} from '../../ledger/backends/registry.ts'
import type {ManagedLedgerStore} from '../../ledger/managed-store.ts'
import {createTransport, type NetworkTransport} from '../../transport/undici-transport.ts'
import type {Host} from '../host/host.ts'
import type {LedgerOf} from './other-ledgers.ts'

export interface StateStoreOptions extends Pick<OpenLedgerOptions, 'notice' | 'onWait' | 'fileContent' | 'retryMax' | 'app' | 'freeing'> {
  /** How long one request may take. */
  readonly timeoutMs?: number
  /** Instead of the process's own, for `TF_HTTP_*`. */
  readonly environment?: OpenLedgerOptions['environment']
}

export class StateStores {
  readonly #host: Host
  readonly #networks: NetworkTransport[] = []

  constructor(host: Host) {
    this.#host = host
  }

  /** @throws HttpBackendError, NotAFileError */
  open({name, ledger}: LedgerOf, {timeoutMs, environment, ...options}: StateStoreOptions): ManagedLedgerStore {
    const {cwd, clock, random, redactor, version, environment: own} = this.#host
    const signIn = backendOf(ledger).signIn?.(ledger, own.all)
    if (signIn !== undefined) redactor.registerBasic(signIn.username, signIn.password)
    return openLedgerStore(ledger, {
      stack: name,
      folder: cwd,
      environment: environment ?? own.all,
      transport: ({insecure}) => {
        const network = createTransport({
          insecure,
          proxy: own.proxy,
          maxResponseBytes: environmentMaxResponse(own),
          ...(timeoutMs === undefined ? {} : {timeoutMs, connectTimeoutMs: timeoutMs}),
        })
        this.#networks.push(network)
        return network.send
      },
      clock,
      random,
      pid: process.pid,
      host: hostname(),
      user: userName(),
      version,
      ...options,
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#networks.map(it => it.close()))
  }
}

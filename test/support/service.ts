/**
 * The simulated services on loopback and the program beside them. Whatever a test does: no credential and none of the
 * secrets named here in any byte that was printed.
 */
import {createServer, type RequestListener, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {systemClock} from '../../src/base/clock.ts'
import {
  createSimulator,
  readyDocument,
  type Simulator,
  type SimulatorConfigInput,
  serveSimulator,
  type WorldBuilder,
  world,
} from '../../src/simulator/index.ts'
import {type Outcome, type RunOptions, type Sandbox, sandbox} from './program.ts'

export interface Service {
  readonly here: Sandbox
  readonly simulator: Simulator
  /** Every variable a client needs. */
  readonly env: Readonly<Record<string, string>>
  /** Words, or a line of words without spaces in them. */
  run(args: string | readonly string[], options?: RunOptions): Promise<Outcome>
  /** `POST /subscriptions`: what reached the services. */
  asked(): string[]
  /** A server of one's own for what no simulator does; its address. */
  serve(listener: RequestListener): Promise<string>
  /** Checks what was printed, and ends everything. Text that may be printed after all is taken out before. */
  end(): Promise<void>
  /** From now on this must not be printed either. */
  secret(text: string): string
  /** Everything printed so far. */
  printed(): string
}

export async function service(config: SimulatorConfigInput = {}, start: WorldBuilder = world()): Promise<Service> {
  const here = sandbox()
  const simulator = createSimulator({clock: systemClock, config})
  start.into(simulator)
  const served = await serveSimulator(simulator)
  const {env} = readyDocument(served, simulator.config)
  const {credentials} = simulator.config
  const secrets = [
    credentials.apiKey,
    credentials.secretKey,
    credentials.password,
    Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64'),
  ]
  const servers: Server[] = []
  let printed = ''
  return {
    here,
    simulator,
    env,
    async run(args, options = {}) {
      const words = typeof args === 'string' ? args.split(' ').filter(word => word !== '') : args
      const outcome = await here.run(words, {...options, env: {...env, ...options.env}})
      printed += outcome.stdout + outcome.stderr
      return outcome
    },
    asked: () => simulator.log.map(({method, path, query}) => `${method} ${path}${query === '' ? '' : `?${query}`}`),
    async serve(listener) {
      const server = createServer(listener)
      servers.push(server)
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    async end() {
      await served.close()
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
      here.remove()
      const leaked = secrets.filter(secret => printed.includes(secret))
      if (leaked.length > 0) throw new Error(`printed: ${leaked.join(', ')}`)
    },
    secret(text) {
      secrets.push(text)
      return text
    },
    printed: () => printed,
  }
}

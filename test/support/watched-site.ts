/**
 * A site whose output is watched: whatever a test does, no credential and none of the secrets named here is in any byte
 * that was printed.
 */
import {createServer, type RequestListener, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {type SimulatorConfigInput, type WorldBuilder, world} from '../../src/simulator/index.ts'
import type {Outcome, RunOptions} from './program.ts'
import {type Site, site} from './site.ts'

export interface WatchedSite extends Pick<Site, 'folder' | 'configFile' | 'env' | 'simulator'> {
  /** Words, or a line of words without spaces in them. */
  run(args: string | readonly string[], options?: RunOptions): Promise<Outcome>
  /** `POST /subscriptions`: what reached the services. */
  asked(): string[]
  /** A server of one's own for what no simulator does; its address. */
  serve(listener: RequestListener): Promise<string>
  /** Checks what was printed, and ends everything. */
  close(): Promise<void>
  /** From now on this must not be printed either. */
  secret(text: string): string
  /** Everything printed so far. */
  printed(): string
}

export async function watchedSite(config: SimulatorConfigInput = {}, start: WorldBuilder = world()): Promise<WatchedSite> {
  const at = await site(config)
  start.into(at.simulator)
  const {credentials} = at.simulator.config
  const secrets = [
    credentials.apiKey,
    credentials.secretKey,
    credentials.password,
    Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64'),
  ]
  const servers: Server[] = []
  let printed = ''
  return {
    folder: at.folder,
    configFile: at.configFile,
    env: at.env,
    simulator: at.simulator,
    async run(args, options = {}) {
      const words = typeof args === 'string' ? args.split(' ').filter(word => word !== '') : args
      const outcome = await at.run(words, options)
      printed += outcome.stdout + outcome.stderr
      return outcome
    },
    asked: () => at.simulator.log.map(({method, path, query}) => `${method} ${path}${query === '' ? '' : `?${query}`}`),
    async serve(listener) {
      const server = createServer(listener)
      servers.push(server)
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections()
        server.close()
      }
      await at.close()
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

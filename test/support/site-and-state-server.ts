import {beforeEach} from 'vitest'
import type {SimulatorConfigInput} from '../../src/simulator/index.ts'
import {type Site, site} from './site.ts'
import {type StateServer, startStateServer} from './state-server.ts'

/**
 * A site and a state server for each test of a file, or of the `describe` it is called in.
 *
 * @param use - is told before each test
 */
export function siteAndStateServer(use: (at: Site, server: StateServer) => void, config?: SimulatorConfigInput): void {
  beforeEach(async () => {
    const [at, server] = await Promise.all([site(config), startStateServer()])
    use(at, server)
    return async () => void (await Promise.all([at.close(), server.close()]))
  })
}

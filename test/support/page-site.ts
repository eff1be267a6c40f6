/** Where the commands of a page are typed: a site with `svcctl` on its PATH, for shells. */
import type {WorldBuilder} from '../../src/simulator/index.ts'
import {type Ended, runLine} from './page.ts'
import {serveProgram} from './served-program.ts'
import {FAST, type Site, site} from './site.ts'

export interface PageSite extends Site {
  /** One line in a shell; in the folder of the site unless another one is named. */
  line(text: string, folder?: string): Promise<Ended>
}

/** What waits for a task looks often, whatever the page says. */
const WAITS = `case "$1" in plan|apply|import|absorb|drift|undo) set -- "$@" ${FAST.join(' ')};; esac`

export async function pageSite(start?: WorldBuilder): Promise<PageSite> {
  const at = await site()
  start?.into(at.simulator)
  const program = await serveProgram(at.home, WAITS)
  const env = {...at.env, PATH: `${program.bin}:${at.env.PATH}`}
  return {
    ...at,
    get writes() {
      return at.writes
    },
    line: (text, folder = at.folder) => runLine(text, folder, env),
    close: async () => {
      await program.close()
      await at.close()
    },
  }
}

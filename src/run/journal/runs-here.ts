/** Whether there is any run here is told from names: what reads journals is loaded where there is one. */
import {listRuns, runsFolder} from '../../ledger/journal-file.ts'
import type {Host} from '../host/host.ts'
import type {RunsHere} from './run-files.ts'

export async function runsHere(host: Host): Promise<RunsHere> {
  if (listRuns(runsFolder(host.cwd)).length === 0) return {stories: [], unreadable: []}
  return (await import('./run-files.ts')).readRuns(host)
}

/** What every report and comment says of where it was made: by which runs of one app find each other's comments. */
import {createHash} from 'node:crypto'
import {relative, resolve, sep} from 'node:path'
import {isWithin, repositoryOf} from '../../base/repository.ts'
import {type CiJob, currentJob} from '../../config/ci-job.ts'
import type {ReportFrame} from '../../report/document/of-plan.ts'
import type {ReportCommand} from '../../report/report.ts'
import type {Host} from '../host/host.ts'

/** @param folder - of the stacks, from the root of the repository */
export const reportFrame = (command: ReportCommand, folder: string, stacks: readonly string[], job: CiJob | undefined): ReportFrame => ({
  command,
  key: appKey(folder, stacks),
  run: job?.run ?? 0,
  ...(job?.commit === undefined ? {} : {commit: job.commit}),
  ...(job?.repository === undefined ? {} : {repository: job.repository}),
})

/** Twelve digits by which runs of one app with the same stacks find each other's comments. */
function appKey(folder: string, stacks: readonly string[]): string {
  const app = folder === '' ? 'cdktf.json' : `${folder}/cdktf.json`
  return createHash('sha256')
    .update(`${app}\n${stacks.toSorted().join(',')}`)
    .digest('hex')
    .slice(0, 12)
}

/** From the root of the repository to the working folder, with `/`; `''` where there is no repository. */
export function folderInRepository({cwd, environment}: Pick<Host, 'cwd' | 'environment'>): string {
  const job = currentJob(environment.all)?.workspace
  const root = job !== undefined && isWithin(cwd, job) ? resolve(job) : repositoryOf(cwd)
  return root === undefined ? '' : relative(root, cwd).split(sep).join('/')
}

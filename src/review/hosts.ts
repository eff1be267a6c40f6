/** The hosts a plan can be reviewed on. A new one is a file with a `ReviewHost`, a job in `config/ci-job.ts`, and a line here. */

import type {ProcessVariables} from '../base/process-variables.ts'
import {type CodeHost, jobOf} from '../config/ci-job.ts'
import {ADDRESSES, ReviewPlaceError} from './errors.ts'
import {openGithub} from './github.ts'
import {openGitlab} from './gitlab.ts'
import type {HostRequestsOptions} from './host-requests.ts'
import type {ReviewHost} from './review-host.ts'

const HOSTS = {github: openGithub, gitlab: openGitlab} as const satisfies Readonly<Record<CodeHost, typeof openGithub>>

/** @param commit - by which the request is found where the job does not say its number */
export async function openHost(
  name: CodeHost,
  variables: ProcessVariables,
  commit: string | undefined,
  tools: Pick<HostRequestsOptions, 'transport' | 'clock' | 'debug' | 'say'>,
): Promise<ReviewHost> {
  const job = jobOf(name, variables)
  if (!isHttp(job.apiUrl)) throw new ReviewPlaceError(name, 'address', ADDRESSES[name])
  return HOSTS[name](job, commit, tools)
}

const isHttp = (address: string): boolean => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)

/**
 * The CI job this process runs in, by the variables that GitHub Actions and GitLab CI set: which commit and which run it
 * is about, and where their APIs are. What a job does not say is absent; nothing is guessed.
 */

import {parseAnyJson} from '../base/bounded-json.ts'
import {isJsonObject, type Json} from '../base/json.ts'
import type {ProcessVariables} from '../base/process-variables.ts'
import {readKeptFileSync} from '../base/whole-file.ts'

export type CodeHost = 'github' | 'gitlab'

export interface CiJob {
  readonly host: CodeHost
  /** Without a slash at the end. */
  readonly apiUrl: string
  /** `owner/name`, or GitLab's path with groups. */
  readonly repository?: string
  /** Of GitLab: the number of the project. */
  readonly project?: string
  /** The head of the pull request where there is one: what people review. */
  readonly commit?: string
  /** Greater for a later run; 0 where nobody says. */
  readonly run: number
  /** The pull or merge request. */
  readonly request?: number
  /** The checkout, absolute. */
  readonly workspace?: string
  readonly token?: string
  readonly actor?: string
  /** The page of this run. */
  readonly url?: string
  /** The branch or tag. */
  readonly ref?: string
}

/** `undefined` outside of CI. */
export function currentJob(all: ProcessVariables): CiJob | undefined {
  if (set(all.GITHUB_ACTIONS) || set(all.GITHUB_SHA)) return jobOf('github', all)
  return set(all.GITLAB_CI) || set(all.CI_COMMIT_SHA) ? jobOf('gitlab', all) : undefined
}

export const jobOf = (host: CodeHost, all: ProcessVariables): CiJob => (host === 'github' ? githubJob(all) : gitlabJob(all))

const set = (value: string | undefined): boolean => value !== undefined && value !== '' && value !== 'false'

function githubJob(all: ProcessVariables): CiJob {
  const event = eventIn(all.GITHUB_EVENT_PATH)
  const pull = isJsonObject(event) && isJsonObject(event.pull_request) ? event.pull_request : undefined
  const issue = isJsonObject(event) && isJsonObject(event.issue) ? event.issue : undefined
  const head = isJsonObject(pull?.head) ? pull.head.sha : undefined
  return {
    host: 'github',
    apiUrl: (all.GITHUB_API_URL || 'https://api.github.com').replace(/\/+$/, ''),
    run: whole(all.GITHUB_RUN_ID) ?? whole(all.GITHUB_RUN_NUMBER) ?? 0,
    ...present('repository', all.GITHUB_REPOSITORY),
    ...present('commit', commitIn(typeof head === 'string' ? head : undefined) ?? commitIn(all.GITHUB_SHA)),
    ...present('request', whole(pull?.number) ?? whole(issue?.number) ?? whole(/^refs\/pull\/(\d+)\//.exec(all.GITHUB_REF ?? '')?.[1])),
    ...present('workspace', all.GITHUB_WORKSPACE),
    ...present('token', all.GITHUB_TOKEN || all.GH_TOKEN),
    ...present('actor', all.GITHUB_ACTOR),
    ...present('url', githubRun(all)),
    ...present('ref', all.GITHUB_HEAD_REF || all.GITHUB_REF_NAME || all.GITHUB_REF),
  }
}

function gitlabJob(all: ProcessVariables): CiJob {
  const server = (all.CI_SERVER_URL || 'https://gitlab.com').replace(/\/+$/, '')
  return {
    host: 'gitlab',
    apiUrl: (all.CI_API_V4_URL || `${server}/api/v4`).replace(/\/+$/, ''),
    run: whole(all.CI_PIPELINE_ID) ?? whole(all.CI_PIPELINE_IID) ?? 0,
    ...present('repository', all.CI_PROJECT_PATH),
    ...present('project', all.CI_PROJECT_ID),
    ...present('commit', commitIn(all.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA) ?? commitIn(all.CI_COMMIT_SHA)),
    ...present('request', whole(all.CI_MERGE_REQUEST_IID)),
    ...present('workspace', all.CI_PROJECT_DIR),
    ...present('token', all.GITLAB_TOKEN),
    ...present('actor', all.GITLAB_USER_LOGIN),
    ...present('url', all.CI_JOB_URL || all.CI_PIPELINE_URL),
    ...present('ref', all.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME || all.CI_COMMIT_REF_NAME),
  }
}

function githubRun({GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run}: ProcessVariables): string | undefined {
  if (!set(repository) || !set(run)) return undefined
  return `${(server || 'https://github.com').replace(/\/+$/, '')}/${repository}/actions/runs/${run}`
}

/** What started the workflow. A file that cannot be read says nothing. */
function eventIn(path: string | undefined): Json | undefined {
  if (path === undefined || path === '') return undefined
  try {
    return parseAnyJson(readKeptFileSync(path).toString()) as Json
  } catch {
    return undefined
  }
}

/** Hexadecimal digits, as git prints a commit. */
export function commitIn(text: string | undefined): string | undefined {
  const commit = text?.trim().toLowerCase()
  return commit !== undefined && /^[0-9a-f]{8,64}$/.test(commit) ? commit : undefined
}

function whole(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

const present = <K extends string, T>(name: K, value: T | undefined): {readonly [N in K]?: T} =>
  value === undefined || value === '' ? {} : ({[name]: value} as {readonly [N in K]?: T})

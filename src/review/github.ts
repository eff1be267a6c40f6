/** Pull requests of GitHub, or of a server of one's own. */
import type {Json} from '../base/json.ts'
import type {CiJob} from '../config/ci-job.ts'
import {ReviewPlaceError} from './errors.ts'
import {HostRequests, type HostRequestsOptions} from './host-requests.ts'
import {objectField, textField, timeIn, updatedIn} from './json-fields.ts'
import {pathSegment} from './path-segment.ts'
import {type HostApproval, type HostComment, type HostReview, type ReviewHost, wholeCommit} from './review-host.ts'

type Tools = Pick<HostRequestsOptions, 'transport' | 'clock' | 'debug' | 'say'>

/** GitHub says `write` of those who maintain, and `read` of those who triage. */
const MAY_WRITE: ReadonlySet<string> = new Set(['admin', 'write'])

/** What GitHub calls those who can be given leave to write, in each review. Anybody else wrote nothing but proposals. */
const INSIDERS: ReadonlySet<string> = new Set(['COLLABORATOR', 'MEMBER', 'OWNER'])

/** Of so many who approved is it asked whether they may: whoever has accounts enough can make the list longer. */
const MOST_ASKED = 100

/** Who the token of a job is; it may not ask who it is. */
const JOB = 'github-actions[bot]'
const LIMIT = /rate limit|abuse/i

/** @throws ReviewPlaceError, and what requests throw */
export async function openGithub(job: CiJob, commit: string | undefined, tools: Tools): Promise<ReviewHost> {
  const {repository, token, apiUrl} = job
  if (repository === undefined || !/^[\w.-]+\/[\w.-]+$/.test(repository))
    throw new ReviewPlaceError('github', 'repository', 'GITHUB_REPOSITORY')
  if (token === undefined) throw new ReviewPlaceError('github', 'token', 'GITHUB_TOKEN')
  const headers = {accept: 'application/vnd.github+json', authorization: `Bearer ${token}`, 'x-github-api-version': '2022-11-28'}
  const requests = new HostRequests({host: 'github', apiUrl, headers, ...tools})
  const number = job.request ?? (await requestOf(requests, repository, commit ?? job.commit))
  if (number === undefined) throw new ReviewPlaceError('github', 'pull request', 'GITHUB_REF=refs/pull/NUMBER/merge')
  return new Github(requests, `/repos/${repository}`, number)
}

/** The pull request a commit belongs to: the open one, else the first. */
async function requestOf(requests: HostRequests, repository: string, commit: string | undefined): Promise<number | undefined> {
  if (commit === undefined) return undefined
  const found = await requests.all(`/repos/${repository}/commits/${commit}/pulls`, 'find the pull request of a commit', it => ({
    isOpen: textField(it, 'state') === 'open',
    number: Number(textField(it, 'number')),
  }))
  return (found.find(it => it.isOpen) ?? found[0])?.number
}

class Github implements ReviewHost {
  readonly name = 'github'
  readonly #requests: HostRequests
  readonly #repository: string
  readonly #number: number
  #login: string | undefined

  constructor(requests: HostRequests, repository: string, number: number) {
    this.#requests = requests
    this.#repository = repository
    this.#number = number
  }

  async comments(): Promise<readonly HostComment[]> {
    this.#login ??= await this.#whose()
    const login = this.#login
    return this.#requests.all(`${this.#repository}/issues/${this.#number}/comments`, 'list the comments', it =>
      textField(objectField(it, 'user'), 'login') === login ? this.#comment(it) : undefined,
    )
  }

  /**
   * A job's token is refused this ("Resource not accessible by integration"). Any other answer without a name is one of a host
   * that stumbles: it makes nobody's comments those of the job.
   */
  async #whose(): Promise<string> {
    const answer = await this.#requests.ask({method: 'GET', path: '/user'})
    const why = textField(answer.body, 'message')
    const isJob = (answer.status === 403 || answer.status === 404) && why !== undefined && !LIMIT.test(why)
    return isJob ? JOB : this.#requests.nameIn(answer, 'login')
  }

  async create(body: string): Promise<HostComment> {
    const made = await this.#requests.send({
      method: 'POST',
      path: `${this.#repository}/issues/${this.#number}/comments`,
      body: {body},
      doing: 'write a comment',
    })
    // Now it is known for certain who we are.
    this.#login = textField(objectField(made, 'user'), 'login') ?? this.#login
    return this.#comment(made)
  }

  async update(id: string, body: string): Promise<HostComment> {
    const doing = 'change a comment'
    const path = this.#requests.below(`${this.#repository}/issues/comments`, id, doing)
    return this.#comment(await this.#requests.send({method: 'PATCH', path, body: {body}, doing}))
  }

  async remove(id: string): Promise<void> {
    const doing = 'delete a comment'
    const path = this.#requests.below(`${this.#repository}/issues/comments`, id, doing)
    const answer = await this.#requests.ask({method: 'DELETE', path})
    if (answer.status !== 404) this.#requests.done(answer, doing)
  }

  async review(commit: string): Promise<HostReview> {
    const path = `${this.#repository}/pulls/${this.#number}`
    const pull = await this.#requests.send({method: 'GET', path, doing: 'read the pull request'})
    const author = textField(objectField(pull, 'user'), 'login') || undefined
    const head = textField(objectField(pull, 'head'), 'sha')
    const meant = wholeCommit(commit, head)
    // What a person said last is what counts, and a comment takes nothing back.
    const last = new Map<string, Verdict>()
    const verdicts = await this.#requests.all(`${path}/reviews`, 'list the reviews', verdictIn)
    for (const it of verdicts.toSorted((a, b) => a.at - b.at)) last.set(it.by, it)
    const given = [...last.values()].filter(
      ({by, state, of}) => by !== author && by !== this.#login && state === 'APPROVED' && of === meant,
    )
    const newest = given.toSorted((a, b) => b.at - a.at).slice(0, MOST_ASKED)
    const counting = await firstOf(newest, it => this.#mayApprove(it))
    return {
      open: textField(pull, 'state') !== 'closed',
      approvals: counting === undefined ? [] : [{by: counting.by, at: counting.at}],
      ...(head === undefined ? {} : {head}),
      ...(author === undefined ? {} : {author}),
      ...(counting === undefined && newest[0] !== undefined
        ? {missing: `${newest[0].by} approved it, and may not write to the repository`}
        : {}),
    }
  }

  /**
   * Whoever can read a repository can approve what is proposed to it, with an account of any name: all the world, where it is public.
   * GitHub says in each review who is no part of the repository, and of the others whether they may write. A server of one's own
   * that says neither leaves it at the review.
   */
  async #mayApprove({by, association}: Verdict): Promise<boolean> {
    if (association !== undefined && !INSIDERS.has(association)) return false
    const name = pathSegment(by)
    // Asked for `..`, a server would answer something else.
    if (name === undefined) return false
    const path = `${this.#repository}/collaborators/${name}/permission`
    const answer = await this.#requests.ask({method: 'GET', path})
    if (answer.status === 404) return association === undefined
    return MAY_WRITE.has(textField(this.#requests.done(answer, 'say who may write to the repository').body, 'permission') ?? '')
  }

  #comment(it: Json | undefined): HostComment {
    return {
      id: textField(it, 'id') ?? '',
      body: textField(it, 'body') ?? '',
      url: textField(it, 'html_url') ?? textField(it, 'url') ?? '',
      createdAt: timeIn(it, 'created_at'),
      updatedAt: updatedIn(it),
    }
  }
}

/** What somebody said in a review, without the words. */
interface Verdict extends HostApproval {
  readonly state: string
  readonly of: string | undefined
  readonly association: string | undefined
}

function verdictIn(review: Json): Verdict | undefined {
  const [by, state] = [textField(objectField(review, 'user'), 'login'), textField(review, 'state')?.toUpperCase()]
  if (by === undefined || state === undefined || !VERDICTS.has(state)) return undefined
  const association = textField(review, 'author_association')?.toUpperCase()
  // Of a time that nobody can read: an approval is the oldest word, and what takes one back the newest.
  const at = timeIn(review, 'submitted_at') || (state === 'APPROVED' ? 0 : Number.POSITIVE_INFINITY)
  return {by, state, at, of: textField(review, 'commit_id'), association}
}

const VERDICTS: ReadonlySet<string> = new Set(['APPROVED', 'CHANGES_REQUESTED', 'DISMISSED'])

async function firstOf<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<T | undefined> {
  for (const item of items) if (await holds(item)) return item
  return undefined
}

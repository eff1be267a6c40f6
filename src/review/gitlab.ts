/** Merge requests of GitLab, gitlab.com or one's own. */
import type {Json} from '../base/json.ts'
import {isJsonObject} from '../base/json.ts'
import type {CiJob} from '../config/ci-job.ts'
import {ReviewPlaceError} from './errors.ts'
import {HostRequests, type HostRequestsOptions} from './host-requests.ts'
import {objectField, textField, timeIn, updatedIn} from './json-fields.ts'
import {type HostApproval, type HostComment, type HostReview, type ReviewHost, wholeCommit} from './review-host.ts'

type Tools = Pick<HostRequestsOptions, 'transport' | 'clock' | 'debug' | 'say'>

/** @throws ReviewPlaceError, and what requests throw */
export async function openGitlab(job: CiJob, commit: string | undefined, tools: Tools): Promise<ReviewHost> {
  const {project, repository, token, apiUrl} = job
  const name = project ?? repository
  if (name === undefined) throw new ReviewPlaceError('gitlab', 'project', 'CI_PROJECT_ID')
  if (token === undefined) throw new ReviewPlaceError('gitlab', 'token', 'GITLAB_TOKEN')
  const requests = new HostRequests({host: 'gitlab', apiUrl, headers: {'private-token': token}, ...tools})
  const path = `/projects/${encodeURIComponent(name)}`
  const number = job.request ?? (await requestOf(requests, path, commit ?? job.commit))
  if (number === undefined) throw new ReviewPlaceError('gitlab', 'merge request', 'CI_MERGE_REQUEST_IID')
  return new Gitlab(requests, `${path}/merge_requests/${number}`)
}

async function requestOf(requests: HostRequests, project: string, commit: string | undefined): Promise<number | undefined> {
  if (commit === undefined) return undefined
  const path = `${project}/repository/commits/${commit}/merge_requests`
  const found = await requests.all(path, 'find the merge request of a commit', it => ({
    isOpen: textField(it, 'state') === 'opened',
    number: Number(textField(it, 'iid')),
  }))
  return (found.find(it => it.isOpen) ?? found[0])?.number
}

class Gitlab implements ReviewHost {
  readonly name = 'gitlab'
  readonly #requests: HostRequests
  readonly #path: string
  #username: string | undefined
  #page: string | undefined

  constructor(requests: HostRequests, path: string) {
    this.#requests = requests
    this.#path = path
  }

  async comments(): Promise<readonly HostComment[]> {
    this.#username ??= this.#requests.nameIn(await this.#requests.ask({method: 'GET', path: '/user'}), 'username')
    return this.#notes(it => (isSystem(it) || !this.#isOwn(it) ? undefined : this.#comment(it)))
  }

  #isOwn(it: Json): boolean {
    return this.#username !== undefined && textField(objectField(it, 'author'), 'username') === this.#username
  }

  #notes<T>(take: (note: Json) => T | undefined): Promise<readonly T[]> {
    return this.#requests.all(`${this.#path}/notes?sort=asc&order_by=created_at`, 'list the notes', take)
  }

  async create(body: string): Promise<HostComment> {
    return this.#comment(
      await this.#requests.send({method: 'POST', path: `${this.#path}/notes`, body: {body}, doing: 'write a note'}),
      await this.#pageOf(),
    )
  }

  async update(id: string, body: string): Promise<HostComment> {
    const doing = 'change a note'
    const path = this.#requests.below(`${this.#path}/notes`, id, doing)
    return this.#comment(await this.#requests.send({method: 'PUT', path, body: {body}, doing}), await this.#pageOf())
  }

  /** A note has no address of its own in the answer. */
  async #pageOf(): Promise<string> {
    const {body} = await this.#requests.ask({method: 'GET', path: this.#path})
    this.#page = textField(body, 'web_url') ?? ''
    return this.#page
  }

  async remove(id: string): Promise<void> {
    const doing = 'delete a note'
    const path = this.#requests.below(`${this.#path}/notes`, id, doing)
    const answer = await this.#requests.ask({method: 'DELETE', path})
    if (answer.status !== 404) this.#requests.done(answer, doing)
  }

  async review(commit: string): Promise<HostReview> {
    const request = await this.#requests.send({method: 'GET', path: this.#path, doing: 'read the merge request'})
    const state = await this.#requests.send({method: 'GET', path: `${this.#path}/approvals`, doing: 'read the approvals'})
    const author = textField(objectField(request, 'author'), 'username') || undefined
    const head = textField(request, 'sha') ?? textField(objectField(request, 'diff_refs'), 'head_sha')
    const rows = isJsonObject(state) && Array.isArray(state.approved_by) ? (state.approved_by as readonly Json[]) : []
    const said = rows.some(it => textField(it, 'approved_at') === undefined) ? await this.#approvedAt() : new Map<string, number>()
    const approvals = rows.flatMap((it): HostApproval[] => {
      const by = textField(objectField(it, 'user'), 'username')
      if (by === undefined || by === '' || by === author || by === this.#username) return []
      return [{by, at: timeIn(it, 'approved_at') || (said.get(by) ?? 0)}]
    })
    const left = leftIn(state)
    return {
      open: textField(request, 'state') === 'opened',
      // GitLab keeps approvals of the request, and takes them back when commits are pushed: they are of its head.
      approvals: head === wholeCommit(commit, head) ? approvals : [],
      ...(head === undefined ? {} : {head}),
      ...(author === undefined ? {} : {author}),
      ...(left <= 0
        ? {}
        : {
            missing: Number.isNaN(left)
              ? 'nobody says how many approvals are left to give'
              : `${left} ${left === 1 ? 'approval is' : 'approvals are'} left to give`,
          }),
    }
  }

  /** Older servers say when somebody approved in notes of the system only. */
  async #approvedAt(): Promise<ReadonlyMap<string, number>> {
    const at = new Map<string, number>()
    const given = await this.#notes(it => {
      const by = textField(objectField(it, 'author'), 'username')
      const isApproval = isSystem(it) && /^approved this merge request/.test(textField(it, 'body') ?? '')
      return by !== undefined && isApproval ? {by, at: timeIn(it, 'created_at')} : undefined
    })
    for (const it of given) at.set(it.by, Math.max(at.get(it.by) ?? 0, it.at))
    return at
  }

  #comment(it: Json | undefined, page = this.#page): HostComment {
    const id = textField(it, 'id') ?? ''
    return {
      id,
      body: textField(it, 'body') ?? '',
      url: page === undefined || page === '' ? '' : `${page}#note_${id}`,
      createdAt: timeIn(it, 'created_at'),
      updatedAt: updatedIn(it),
    }
  }
}

/** A server that asks for no approvals may leave it away; what is no number says nothing. */
const leftIn = (state: Json | undefined): number => {
  const left = isJsonObject(state) ? (state.approvals_left ?? 0) : 0
  return typeof left === 'number' ? left : Number.NaN
}

const isSystem = (it: Json): boolean => isJsonObject(it) && it.system === true

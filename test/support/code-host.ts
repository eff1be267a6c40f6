/** The parts of GitHub's and GitLab's APIs that a review of a plan needs, behind a real local port. Both speak of one world. */
import {createServer, type IncomingMessage} from 'node:http'
import type {AddressInfo} from 'node:net'

export interface FakeComment {
  id: number
  body: string
  by: string
  createdAt: string
  updatedAt: string
  system?: true
}

export interface FakeReview {
  readonly by: string
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'DISMISSED' | 'COMMENTED'
  readonly commit: string
  readonly at: string
}

export class CodeHostWorld {
  /** Who each token is. */
  readonly tokens = new Map([
    ['bot-token', 'svcctl-bot'],
    ['mallory-token', 'mallory'],
  ])
  /** Tokens that may read and not write. */
  readonly readOnly = new Set<string>()
  /** Of GitHub: who may read the repository because it is public, as all the world may. */
  readonly strangers = new Set<string>()
  /** Of GitHub: who may read it because it is theirs to read, and not write to it. */
  readonly readers = new Set<string>()
  /** Of GitHub: the token may not ask who may write. */
  hidesPermissions = false
  /** A server of one's own that knows reviews, and neither who is part of a repository nor who may write to it. */
  knowsReviewsAlone = false
  comments: FakeComment[] = []
  reviews: FakeReview[] = []
  /** Of GitLab. */
  approvalsLeft = 0
  /** GitLab since 16 says when somebody approved; before, only notes do. */
  saysWhen = true
  author = 'ana'
  head = 'c'.repeat(40)
  /** Commits of the request before its head. */
  readonly earlier: string[] = []
  open = true
  /** `GET /user` is answered 403, as the token of a job of GitHub is. */
  nameless = false
  /** `GET /user` is answered this instead. */
  user: {readonly status: number; readonly body?: unknown} | undefined
  readonly requests: string[] = []
  /** Statuses for the next requests instead of the real answers. */
  readonly faults: number[] = []
  /** Happens before a comment is made, and after: somebody else is as fast. */
  beforeCreate: () => void = () => {}
  #at = Date.parse('2026-11-22T08:00:00Z')
  #ids = 100

  /** The time of this world, a minute later at each look. */
  now(): string {
    this.#at += 60_000
    return new Date(this.#at).toISOString()
  }

  comment(by: string, body: string): FakeComment {
    const at = this.now()
    const made = {id: this.#ids++, body, by, createdAt: at, updatedAt: at}
    this.comments.push(made)
    return made
  }

  push(commit: string): void {
    this.earlier.push(this.head)
    this.head = commit
  }

  /** Of a route with a commit in it: the same with the head in its place, where the commit is one of the request's. */
  ofHead(route: string): string {
    const commit = /\/commits\/(\w+)\//.exec(route)?.[1]
    return commit !== undefined && this.earlier.includes(commit) ? route.replace(commit, this.head) : route
  }

  approve(by: string, commit = this.head): void {
    this.reviews.push({by, state: 'APPROVED', commit, at: this.now()})
  }
}

export interface CodeHostServer {
  readonly world: CodeHostWorld
  /** What a job of that host has in its environment. */
  readonly github: Readonly<Record<string, string>>
  readonly gitlab: Readonly<Record<string, string>>
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly body?: unknown
}

const NUMBER = 7

export async function startCodeHost(): Promise<CodeHostServer> {
  const world = new CodeHostWorld()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', part => {
      text += part
    })
    request.on('end', () => {
      world.requests.push(`${request.method} ${request.url}`)
      const fault = world.faults.shift()
      const {status, body} =
        fault === undefined ? answer(world, request, text === '' ? {} : JSON.parse(text)) : {status: fault, body: {message: 'not now'}}
      response.writeHead(status, {'content-type': 'application/json', 'retry-after': '0'})
      response.end(body === undefined ? '' : JSON.stringify(body))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    world,
    github: {
      GITHUB_API_URL: `${base}/github`,
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_REF: `refs/pull/${NUMBER}/merge`,
      GITHUB_TOKEN: 'bot-token',
      GITHUB_RUN_ID: '10',
    },
    gitlab: {
      CI_API_V4_URL: `${base}/gitlab`,
      CI_PROJECT_ID: '55',
      CI_MERGE_REQUEST_IID: String(NUMBER),
      GITLAB_TOKEN: 'bot-token',
      CI_PIPELINE_ID: '10',
    },
    close: () => new Promise(resolve => void server.close(() => resolve()).closeAllConnections()),
  }
}

function answer(world: CodeHostWorld, request: IncomingMessage, sent: {readonly body?: string}): Answer {
  const {pathname, searchParams} = new URL(request.url ?? '', 'http://x')
  const token = request.headers.authorization?.replace('Bearer ', '') ?? String(request.headers['private-token'] ?? '')
  const who = world.tokens.get(token)
  if (who === undefined) return {status: 401, body: {message: 'Bad credentials'}}
  if (request.method !== 'GET' && world.readOnly.has(token)) return {status: 403, body: {message: 'Resource not accessible by integration'}}
  const [host, ...path] = pathname.slice(1).split('/')
  if (world.user !== undefined && path.join('/') === 'user') return world.user
  const route = world.ofHead(`${request.method} ${path.join('/')}`)
  const page = (rows: readonly unknown[]): Answer => {
    const [size, at] = [Number(searchParams.get('per_page') ?? 30), Number(searchParams.get('page') ?? 1)]
    return {status: 200, body: rows.slice((at - 1) * size, at * size)}
  }
  return host === 'github' ? github(world, route, who, sent, page) : gitlab(world, route, who, sent, page)
}

type Page = (rows: readonly unknown[]) => Answer

function write(world: CodeHostWorld, who: string, id: number | undefined, body: string, shown: (it: FakeComment) => unknown): Answer {
  if (id === undefined) {
    world.beforeCreate()
    return {status: 201, body: shown(world.comment(who, body))}
  }
  const known = world.comments.find(it => it.id === id)
  if (known === undefined) return {status: 404, body: {message: 'Not Found'}}
  known.body = body
  known.updatedAt = world.now()
  return {status: 200, body: shown(known)}
}

function remove(world: CodeHostWorld, id: number): Answer {
  const before = world.comments.length
  world.comments = world.comments.filter(it => it.id !== id)
  return world.comments.length === before ? {status: 404} : {status: 204}
}

/** As GitHub shows a review. Programs are no part of a repository. */
const reviewRow = (world: CodeHostWorld, {by, state, commit, at}: FakeReview, id: number): unknown => ({
  id,
  user: {login: by},
  state,
  commit_id: commit,
  submitted_at: at,
  ...(world.knowsReviewsAlone ? {} : {author_association: world.strangers.has(by) || by.endsWith('[bot]') ? 'NONE' : 'COLLABORATOR'}),
})

function github(world: CodeHostWorld, route: string, who: string, {body = ''}: {readonly body?: string}, page: Page): Answer {
  const shown = (it: FakeComment) => ({
    id: it.id,
    body: it.body,
    user: {login: it.by},
    html_url: `https://github.example/acme/shop/pull/${NUMBER}#issuecomment-${it.id}`,
    created_at: it.createdAt,
    updated_at: it.updatedAt,
  })
  const one = /^(?:PATCH|DELETE) repos\/acme\/shop\/issues\/comments\/(\d+)$/.exec(route)?.[1]
  if (one !== undefined) return route.startsWith('DELETE') ? remove(world, Number(one)) : write(world, who, Number(one), body, shown)
  const asked = /^GET repos\/acme\/shop\/collaborators\/([^/]+)\/permission$/.exec(route)?.[1]
  if (asked !== undefined && world.hidesPermissions) return {status: 403, body: {message: 'Resource not accessible by integration'}}
  if (asked !== undefined && (world.knowsReviewsAlone || asked.includes('%5Bbot%5D'))) return {status: 404, body: {message: 'Not Found'}}
  if (asked !== undefined)
    return {status: 200, body: {permission: world.strangers.has(asked) || world.readers.has(asked) ? 'read' : 'write'}}
  switch (route) {
    case 'GET user':
      return world.nameless ? {status: 403, body: {message: 'Resource not accessible by integration'}} : {status: 200, body: {login: who}}
    case `GET repos/acme/shop/issues/${NUMBER}/comments`:
      return page(world.comments.map(shown))
    case `POST repos/acme/shop/issues/${NUMBER}/comments`:
      return write(world, who, undefined, body, shown)
    case `GET repos/acme/shop/pulls/${NUMBER}`:
      return {
        status: 200,
        body: {number: NUMBER, state: world.open ? 'open' : 'closed', user: {login: world.author}, head: {sha: world.head}},
      }
    case `GET repos/acme/shop/pulls/${NUMBER}/reviews`:
      return page(world.reviews.map((it, id) => reviewRow(world, it, id)))
    case `GET repos/acme/shop/commits/${world.head}/pulls`:
      return page([
        {number: 3, state: 'closed'},
        {number: NUMBER, state: 'open'},
      ])
    default:
      return {status: 404, body: {message: 'Not Found'}}
  }
}

function gitlab(world: CodeHostWorld, route: string, who: string, {body = ''}: {readonly body?: string}, page: Page): Answer {
  const shown = (it: FakeComment) => ({
    id: it.id,
    body: it.body,
    author: {username: it.by},
    system: it.system === true,
    created_at: it.createdAt,
    updated_at: it.updatedAt,
  })
  const request = `projects/55/merge_requests/${NUMBER}`
  const one = new RegExp(`^(?:PUT|DELETE) ${request}/notes/(\\d+)$`).exec(route)?.[1]
  if (one !== undefined) return route.startsWith('DELETE') ? remove(world, Number(one)) : write(world, who, Number(one), body, shown)
  const approvals = world.reviews.filter(it => it.state === 'APPROVED')
  switch (route) {
    case 'GET user':
      return {status: 200, body: {username: who}}
    case `GET ${request}`:
      return {
        status: 200,
        body: {
          iid: NUMBER,
          state: world.open ? 'opened' : 'merged',
          sha: world.head,
          author: {username: world.author},
          web_url: `https://gitlab.example/acme/shop/-/merge_requests/${NUMBER}`,
        },
      }
    case `GET ${request}/approvals`:
      return {
        status: 200,
        body: {
          approvals_left: world.approvalsLeft,
          approved_by: approvals.map(it => ({user: {username: it.by}, ...(world.saysWhen ? {approved_at: it.at} : {})})),
        },
      }
    case `GET ${request}/notes`:
      return page([
        ...world.comments.map(shown),
        ...approvals.map((it, at) => ({
          id: 9_000 + at,
          body: 'approved this merge request',
          author: {username: it.by},
          system: true,
          created_at: it.at,
          updated_at: it.at,
        })),
      ])
    case `POST ${request}/notes`:
      return write(world, who, undefined, body, shown)
    case `GET projects/55/repository/commits/${world.head}/merge_requests`:
      return page([{iid: NUMBER, state: 'opened'}])
    default:
      return {status: 404, body: {message: '404 Not found'}}
  }
}
